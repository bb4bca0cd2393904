(function () {
  'use strict';

  angular
    .module('horizon.image-props-override')
    .controller('ImagePropsLaunchController', Controller);

  Controller.$inject = [
    '$document',
    '$scope',
    '$timeout',
    'launchInstanceModel',
    'horizon.dashboard.project.workflow.launch-instance.boot-source-types',
    'horizon.framework.widgets.wizard.events',
    'horizon.image-props-override.REFUSED',
    'horizon.image-props-override.asker',
    'horizon.image-props-override.rows',
    'horizon.image-props-override.service'
  ];

  /**
   * The step: what is asked for goes into the model, and the cloud is asked what
   * a create would get after each change of it, of the flavor or of the source.
   */
  function Controller(
    $document, $scope, $timeout, model, sources, events, REFUSED, asker, rows, service) {
    var ctrl = this;
    var asking = asker(tell);
    var askingHosts = asker(tellOfHosts);
    var isRight = true;
    var isRejected = false;

    ctrl.offered = null;
    ctrl.image = {};
    ctrl.told = {};
    ctrl.hosts = {};
    ctrl.mayAskHosts = true;
    ctrl.askHosts = askHosts;
    ctrl.take = take;

    service.offered().then(function (offered) {
      ctrl.offered = offered;
    });

    $scope.$watchGroup([
      function () { return flavor().id; },
      function () { return source().id; },
      function () { return model.newInstanceSpec.availability_zone; },
      function () { return model.newInstanceSpec.config_drive; },
      function () { return model.newInstanceSpec.vol_create; },
      function () { return model.newInstanceSpec.vol_size; }
    ], onLaunchChange);
    $scope.$on(REFUSED, function (event, refused) {
      isRejected = true;
      asking.stop();
      asking.read({refused: refused});
      // The wizard says it above the steps.
      $timeout(function () {
        var said = $document[0].querySelector('.ng-wizard .error-message');
        if (said) {
          said.scrollIntoView();
        }
      });
    });
    $scope.$on(events.ON_SWITCH, function () {
      // Another step may have what corrects it, such as a hint of the same name.
      if (isRejected) {
        mark(false);
      }
    });
    $scope.$on('$destroy', function () {
      asking.stop();
      askingHosts.stop();
    });

    function flavor() {
      return model.newInstanceSpec.flavor || {};
    }

    function source() {
      return (model.newInstanceSpec.source || [])[0] || {};
    }

    function parameters() {
      return {
        image_props_override: model.newInstanceSpec.image_props_override,
        image_props_override_preset: model.newInstanceSpec.image_props_override_preset
      };
    }

    function onLaunchChange() {
      // What Horizon has from Glance or Cinder; the cloud's check knows more.
      ctrl.image = source().properties || source().volume_image_metadata || {};
      schedule();
    }

    function take(overrides, preset, right) {
      // Horizon leaves out what is null.
      model.newInstanceSpec.image_props_override =
        preset || !angular.equals(overrides, {}) ? overrides : null;
      model.newInstanceSpec.image_props_override_preset = preset;
      isRight = right;
      schedule();
    }

    function schedule() {
      asking.stop();
      askingHosts.stop();
      if (isRejected) {
        // What was launched then is no longer what is asked for.
        isRejected = false;
        $scope.viewModel.hasError = false;
      }
      if (!isRight || !parameters().image_props_override) {
        return;
      }
      if (!flavor().id || !source().id) {
        tell({state: 'incomplete'});
        return;
      }
      asking.ask(function () {
        return service.check(server(), parameters());
      });
    }

    /**
     * Ask whether a host can take the instance now, which costs more than a check.
     */
    function askHosts() {
      askingHosts.ask(function () {
        return service.check(server(), angular.extend({hosts: true}, parameters()));
      });
    }

    /*
     * Who may not ask learns it from the first answer. What else is refused of a
     * property is refused of the create: the check before was asked earlier.
     */
    function tellOfHosts(told) {
      ctrl.hosts = told;
      if (told.problems && told.problems.hosts) {
        ctrl.mayAskHosts = false;
      } else if (told.state === 'refused' && !told.message) {
        tell(told);
      }
    }

    /*
     * What a create would have under "server", as far as the check needs it
     * (setFinalSpecBootsource of launchInstanceModel).
     */
    function server() {
      var spec = model.newInstanceSpec;
      var type = spec.source_type && spec.source_type.type;
      var asked = {flavorRef: flavor().id};
      if (spec.availability_zone) {
        asked.availability_zone = spec.availability_zone;
      }
      if (spec.config_drive) {
        asked.config_drive = true;
      }
      var isImage = type === sources.IMAGE || type === sources.INSTANCE_SNAPSHOT;
      if (isImage && !spec.vol_create) {
        asked.imageRef = source().id;
        return asked;
      }
      var device = {
        uuid: source().id,
        boot_index: '0',
        destination_type: 'volume',
        source_type: 'volume'
      };
      if (isImage) {
        device.source_type = 'image';
        device.volume_size = spec.vol_size;
      } else if (type === sources.VOLUME_SNAPSHOT) {
        device.source_type = 'snapshot';
      }
      asked.block_device_mapping_v2 = [device];
      return asked;
    }

    function tell(told) {
      ctrl.told = told;
      mark(told.state === 'refused' && !told.message);
      if (told.accepted) {
        ctrl.image = rows.imageOf(told.accepted.properties, told.accepted);
      }
    }

    /*
     * Mark the step, and let nobody launch, as Horizon does of what is invalid.
     */
    function mark(isRefused) {
      var form = $scope.wizardForm && $scope.wizardForm.launchInstanceImagePropsForm;
      if (form) {
        form.$setValidity('imagePropsRefused', !isRefused, ctrl);
      }
    }
  }
})();
