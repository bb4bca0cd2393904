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
    var asked = server.overrides;

    ctrl.server = server;
    ctrl.image = server.image || {};
    ctrl.choices = offered ? offered.properties : [];
    ctrl.kept = keptOf(ctrl.choices, server.overrides);
    ctrl.problems = {};
    ctrl.notes = {};
    ctrl.message = '';
    ctrl.isSaving = false;
    ctrl.isChanged = false;
    ctrl.take = take;
    ctrl.drop = drop;
    ctrl.save = save;
    ctrl.cancel = cancel;

    /*
     * What somebody else has overridden, and this user may not: it stays as it
     * is, which needs no permission from the cloud.
     */
    function keptOf(choices, overrides) {
      return Object.keys(overrides).sort().filter(function (name) {
        return !choices.some(function (choice) {
          return choice.name_pattern
            ? new RegExp(choice.name_pattern).test(name) : choice.name === name;
        });
      });
    }

    function take(overrides) {
      asked = overrides;
      compare();
    }

    function drop(name) {
      ctrl.kept.splice(ctrl.kept.indexOf(name), 1);
      compare();
    }

    function wanted() {
      var all = angular.extend({}, asked);
      ctrl.kept.forEach(function (name) {
        all[name] = server.overrides[name];
      });
      return all;
    }

    function compare() {
      ctrl.isChanged = !angular.equals(wanted(), server.overrides);
      ctrl.problems = {};
      ctrl.message = '';
    }

    function save() {
      ctrl.isSaving = true;
      editService.save(id, wanted()).then(onAnswer, onFailure);
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
