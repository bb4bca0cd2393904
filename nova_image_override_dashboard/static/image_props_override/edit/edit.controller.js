(function () {
  'use strict';

  angular
    .module('horizon.image-props-override')
    .controller('ImagePropsEditController', Controller);

  Controller.$inject = [
    '$uibModalInstance',
    'horizon.image-props-override.edit.service',
    'id',
    'offered',
    'server'
  ];

  /**
   * The dialog: the cloud takes the whole set that is asked for, or refuses it.
   */
  function Controller($uibModalInstance, editService, id, offered, server) {
    var ctrl = this;
    var before, asked, named;

    ctrl.server = server;
    ctrl.image = server.image || {};
    ctrl.choices = offered ? offered.properties : [];
    // What leaves the image's own property as it is depends on the image.
    ctrl.presets = offered && server.image ? offered.presets : [];
    named = server.preset && ctrl.presets.filter(function (preset) {
      return preset.name === server.preset.name;
    })[0];
    ctrl.isLost = Boolean(server.preset && !named);
    ctrl.isOld = Boolean(named && named.digest !== server.preset.digest);
    ctrl.problems = {};
    ctrl.notes = {};
    ctrl.message = '';
    ctrl.isSaving = false;
    ctrl.isChanged = false;
    ctrl.take = take;
    ctrl.save = save;
    ctrl.cancel = cancel;

    /**
     * @param {Object} overrides - name to value
     * @param {string|null} preset - the name of the one that they are laid over
     */
    function take(overrides, preset) {
      asked = {image_props_override: overrides, image_props_override_preset: preset};
      // The editor reports at once what it has been given.
      before = before || asked;
      ctrl.isChanged = !angular.equals(asked, before);
      ctrl.problems = {};
      ctrl.message = '';
    }

    function save() {
      ctrl.isSaving = true;
      editService.save(id, asked).then(onAnswer, onFailure);
    }

    function onAnswer(answer) {
      ctrl.isSaving = false;
      if (!answer.refused) {
        $uibModalInstance.close();
        return;
      }
      ctrl.problems = answer.refused.problems;
      ctrl.message = angular.equals(ctrl.problems, {})
        ? answer.refused.message
        : gettext('The cloud refuses this. Nothing is changed.');
    }

    function onFailure() {
      ctrl.isSaving = false;
      ctrl.message = gettext('The cloud could not be asked to change the overrides.');
    }

    function cancel() {
      $uibModalInstance.dismiss('cancel');
    }
  }
})();
