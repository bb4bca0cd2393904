(function () {
  'use strict';

  angular
    .module('horizon.image-props-override')
    .factory('horizon.image-props-override.edit.service', service)
    .controller('ImagePropsEditOpener', Opener);

  service.$inject = [
    '$q',
    '$uibModal',
    'horizon.framework.util.http.service',
    'horizon.framework.widgets.toast.service',
    'horizon.image-props-override.basePath',
    'horizon.image-props-override.service'
  ];

  /**
   * The dialog that edits the overrides of an existing instance, and what the
   * plugin's REST views say of one.
   *
   * "asked" is {image_props_override, image_props_override_preset}; that of a
   * rebuild has image, too, which alone keeps them. Answers are {accepted}, of save
   * {}, or {refused: {message, problems}}.
   */
  function service($q, $uibModal, http, toast, basePath, propsService) {
    return {
      check: check,
      checkRebuild: checkRebuild,
      load: load,
      open: open,
      save: save
    };

    /**
     * @param {string} id - of the instance
     * @returns {Promise} of {offered, server}, or rejected once the user knows
     */
    function load(id) {
      return $q.all({
        offered: propsService.offered(true),
        server: http.get(url(id)).then(dataOf)
      }).catch(function (reason) {
        toast.add('error', gettext('Unable to retrieve the image property overrides.'));
        return $q.reject(reason);
      });
    }

    /**
     * Open the dialog.
     *
     * @param {string} id - of the instance
     * @returns {Promise} resolved when the overrides are changed
     */
    function open(id) {
      return load(id).then(function (found) {
        return $uibModal.open({
          ariaLabelledBy: 'image-props-edit-title',
          backdrop: 'static',
          controller: 'ImagePropsEditController as ctrl',
          size: 'lg',
          templateUrl: basePath + 'edit/edit.html',
          resolve: {
            id: function () { return id; },
            offered: function () { return found.offered; },
            server: function () { return found.server; }
          }
        }).result;
      });
    }

    function check(id, asked) {
      return http.post(url(id), asked).then(dataOf);
    }

    function checkRebuild(id, asked) {
      return http.post(url(id) + 'rebuild/', asked).then(dataOf);
    }

    function save(id, asked) {
      return http.put(url(id), asked).then(dataOf);
    }

    function dataOf(response) {
      return response.data;
    }

    function url(id) {
      return '/api/image-props-override/servers/' + encodeURIComponent(id) + '/';
    }
  }

  Opener.$inject = ['$window', 'horizon.image-props-override.edit.service'];

  /**
   * For the parts of Horizon that Django renders.
   */
  function Opener($window, editService) {
    this.open = function (id) {
      editService.open(id).then(function () {
        // With the message that the REST view has left.
        $window.location.reload();
      }, angular.noop);
    };
  }
})();
