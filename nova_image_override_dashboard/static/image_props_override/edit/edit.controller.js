(function () {
  'use strict';

  angular
    .module('horizon.image-props-override')
    .controller('ImagePropsEditController', Controller);

  Controller.$inject = [
    '$uibModalInstance',
    'horizon.image-props-override.asker',
    'horizon.image-props-override.edit.service',
    'horizon.image-props-override.rows',
    'id',
    'offered',
    'server'
  ];

  /**
   * The dialog: the cloud takes the whole set that is asked for, or refuses it,
   * and is asked which after each change.
   */
  function Controller($uibModalInstance, asker, editService, rows, id, offered, server) {
    var ctrl = this;
    var asking = asker(function (told) {
      ctrl.told = told;
      if (told.accepted) {
        ctrl.image = rows.imageOf(ctrl.image, told.accepted);
      }
    });
    var before, asked;

    ctrl.server = server;
    ctrl.image = server.image || {};
    ctrl.choices = offered ? offered.properties : [];
    // What leaves the image's own property as it is depends on the image.
    ctrl.presets = offered && server.image ? offered.presets : [];
    ctrl.told = {};
    ctrl.isFailed = false;
    ctrl.isSaving = false;
    ctrl.isChanged = false;
    ctrl.take = take;
    ctrl.save = save;
    ctrl.cancel = cancel;

    function take(overrides, preset, right) {
      asked = {image_props_override: overrides, image_props_override_preset: preset};
      // The editor reports at once what it has been given.
      before = before || asked;
      ctrl.isChanged = !angular.equals(asked, before);
      ctrl.isFailed = false;
      asking.stop();
      if (ctrl.isChanged && right) {
        asking.ask(function () {
          return editService.check(id, asked);
        });
      }
    }

    function save() {
      asking.stop();
      ctrl.isSaving = true;
      editService.save(id, asked).then(onAnswer, onFailure);
    }

    function onAnswer(answer) {
      ctrl.isSaving = false;
      if (!answer.refused) {
        $uibModalInstance.close();
        return;
      }
      asking.read(answer);
    }

    function onFailure() {
      ctrl.isSaving = false;
      ctrl.isFailed = true;
    }

    function cancel() {
      asking.stop();
      $uibModalInstance.dismiss('cancel');
    }
  }
})();
