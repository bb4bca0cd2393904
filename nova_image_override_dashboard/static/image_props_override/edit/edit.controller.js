(function () {
  'use strict';

  angular
    .module('horizon.image-props-override')
    .controller('ImagePropsEditController', Controller);

  Controller.$inject = [
    '$uibModalInstance',
    'horizon.image-props-override.asker',
    'horizon.image-props-override.edit.service',
    'id',
    'offered',
    'server'
  ];

  /**
   * The dialog: the cloud takes the whole set that is asked for, or refuses it,
   * and is asked which after each change.
   */
  function Controller($uibModalInstance, asker, editService, id, offered, server) {
    var ctrl = this;
    var asking = asker();
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
    ctrl.state = '';
    ctrl.isRefused = false;
    ctrl.isSaving = false;
    ctrl.isChanged = false;
    ctrl.take = take;
    ctrl.save = save;
    ctrl.cancel = cancel;

    /**
     * @param {Object} overrides - name to value
     * @param {string|null} preset - the name of the one that they are laid over
     * @param {boolean} right - whether every row is right by itself
     */
    function take(overrides, preset, right) {
      asked = {image_props_override: overrides, image_props_override_preset: preset};
      // The editor reports at once what it has been given.
      before = before || asked;
      ctrl.isChanged = !angular.equals(asked, before);
      asking.stop();
      ctrl.problems = {};
      ctrl.nodes = null;
      ctrl.message = ctrl.state = '';
      ctrl.isRefused = false;
      if (ctrl.isChanged && right) {
        ctrl.state = 'checking';
        asking.ask(function () {
          return editService.check(id, asked);
        }, tell, function () {
          ctrl.state = 'unknown';
        });
      }
    }

    function tell(answer) {
      if (answer.refused) {
        refuse(answer.refused);
        return;
      }
      ctrl.state = 'accepted';
      ctrl.notes = answer.accepted.overridden;
      ctrl.nodes = answer.accepted.numa_topology && answer.accepted.numa_topology.nodes;
    }

    /*
     * What refuses no property, such as a lock, may have gone when it is saved.
     */
    function refuse(refused) {
      ctrl.state = '';
      ctrl.problems = refused.problems;
      ctrl.isRefused = !angular.equals(refused.problems, {});
      ctrl.message = ctrl.isRefused
        ? gettext('The cloud refuses this. Nothing is changed.')
        : refused.message;
    }

    function save() {
      asking.stop();
      ctrl.state = '';
      ctrl.isSaving = true;
      editService.save(id, asked).then(onAnswer, onFailure);
    }

    function onAnswer(answer) {
      ctrl.isSaving = false;
      if (!answer.refused) {
        $uibModalInstance.close();
        return;
      }
      refuse(answer.refused);
    }

    function onFailure() {
      ctrl.isSaving = false;
      ctrl.message = gettext('The cloud could not be asked to change the overrides.');
    }

    function cancel() {
      asking.stop();
      $uibModalInstance.dismiss('cancel');
    }
  }
})();
