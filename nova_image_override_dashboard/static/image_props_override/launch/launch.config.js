(function () {
  'use strict';

  angular
    .module('horizon.image-props-override')
    .constant('horizon.image-props-override.REFUSED', 'image-props-override.refused')
    .config(config);

  config.$inject = ['$provide'];

  /**
   * The step in Horizon's Launch Instance, and what launches with it.
   */
  function config($provide) {
    $provide.decorator(
      'horizon.dashboard.project.workflow.launch-instance.workflow', addStep);
    $provide.decorator('horizon.app.core.openstack-service-api.nova', carry);
  }

  addStep.$inject = [
    '$delegate',
    'horizon.framework.widgets.toast.service',
    'horizon.image-props-override.basePath',
    'horizon.image-props-override.service'
  ];

  function addStep($delegate, toast, basePath, service) {
    $delegate.after('flavor', {
      id: 'image-props-override',
      title: gettext('Image Properties'),
      templateUrl: basePath + 'launch/launch.html',
      helpUrl: basePath + 'launch/launch.help.html',
      formName: 'launchInstanceImagePropsForm',
      // Steps that are added later are not checked by policy or settings.
      checkReadiness: function () {
        return service.offered(true).then(function (offered) {
          return Boolean(offered && offered.properties.length + offered.presets.length);
        }, function () {
          toast.add('error', gettext('Unable to retrieve what may be overridden.'));
          return false;
        });
      }
    });
    return $delegate;
  }

  carry.$inject = [
    '$delegate',
    '$q',
    '$rootScope',
    'horizon.image-props-override.REFUSED',
    'horizon.image-props-override.service'
  ];

  /**
   * Horizon's own API drops keys that it does not know, and reports success
   * even if it fails. The wizard shows what is rejected here, and stays open.
   */
  function carry($delegate, $q, $rootScope, REFUSED, service) {
    var original = $delegate.createServer;
    $delegate.createServer = createServer;
    return $delegate;

    function createServer(spec) {
      if (!spec.image_props_override) {
        return original.call($delegate, spec);
      }
      return service.launch(spec).catch(function (failure) {
        if (failure.problems) {
          $rootScope.$broadcast(REFUSED, failure);
          return $q.reject(service.lines(failure));
        }
        // Of a response without a text, the wizard shows all, with what was sent.
        return $q.reject(failure.data || gettext(
          'No answer has come. The instance may have been created all the same.'));
      });
    }
  }
})();
