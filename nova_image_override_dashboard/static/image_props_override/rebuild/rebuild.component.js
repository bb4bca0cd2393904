(function () {
  'use strict';

  angular
    .module('horizon.image-props-override')
    .component('imagePropsRebuild', {
      bindings: {
        // ID of the instance.
        server: '@',
        // What the form was sent with before, as encodeURIComponent writes it.
        sent: '@'
      },
      templateUrl: ['horizon.image-props-override.basePath', function (basePath) {
        return basePath + 'rebuild/rebuild.html';
      }],
      controller: Rebuild
    });

  Rebuild.$inject = [
    '$element',
    '$scope',
    'horizon.app.core.openstack-service-api.glance',
    'horizon.image-props-override.asker',
    'horizon.image-props-override.edit.service',
    'horizon.image-props-override.rows'
  ];

  /**
   * What a rebuild would override, in Django's form, which sends it in one field:
   * nothing there keeps what the instance has.
   */
  function Rebuild($element, $scope, glance, asker, editService, rows) {
    var ENTER = 13;
    var ctrl = this;
    var form = $element.closest('form');
    var image = form.find('[name=image]');
    var asking = asker(tell);
    var asked = {};
    var isRight = true;
    var isKnown = true;
    var before;

    ctrl.value = '';
    ctrl.told = {};
    ctrl.$onInit = onInit;
    ctrl.$onDestroy = onDestroy;
    ctrl.take = take;

    function onInit() {
      var sent = ctrl.sent && angular.fromJson(decodeURIComponent(ctrl.sent));
      // Until the editor has been loaded, and if it cannot be.
      ctrl.value = sent ? angular.toJson(sent) : '';
      editService.load(ctrl.server).then(function (found) {
        ctrl.initial = found.server.overrides;
        ctrl.preset = found.server.preset;
        ctrl.image = found.server.image || {};
        if (sent) {
          before = {};
          var named = angular.extend({}, sent.image_props_override_preset);
          ctrl.preset = found.offered.presets.filter(function (preset) {
            return preset.name === named.name;
          })[0];
          ctrl.initial = angular.extend(
            {}, ctrl.preset && ctrl.preset.properties, sent.image_props_override);
        }
        ctrl.offered = found.offered;
        form.addClass('image-props-rebuild');
        image.on('change.imageProps', function () {
          $scope.$apply(chooseImage);
        });
        chooseImage();
      }, angular.noop);
      // Whoever searches does not rebuild.
      $element.on('keydown', 'input', function (event) {
        if (event.which === ENTER) {
          event.preventDefault();
        }
      });
    }

    function onDestroy() {
      asking.stop();
      image.off('.imageProps');
    }

    function chooseImage() {
      var id = image.val();
      // What leaves the image's own property as it is depends on the image.
      isKnown = !id;
      schedule();
      if (id) {
        glance.getImage(id).then(function (response) {
          if (id === image.val()) {
            ctrl.image = response ? response.data.properties : {};
            isKnown = true;
            schedule();
          }
        });
      }
    }

    function take(overrides, preset, right, all) {
      var now = {all: all, preset: preset};
      // The editor reports at once what it has been given.
      before = before || now;
      asked = angular.equals(now, before) ? {} : {
        image_props_override: overrides, image_props_override_preset: preset
      };
      ctrl.value = angular.equals(asked, {}) ? '' : angular.toJson(asked);
      isRight = right;
      schedule();
    }

    function schedule() {
      var id = image.val();
      asking.stop();
      if (!isRight || !isKnown) {
        block(true);
      } else if (id) {
        asking.ask(function () {
          return editService.checkRebuild(ctrl.server, angular.extend({image: id}, asked));
        });
      } else {
        tell({state: 'incomplete'});
      }
    }

    function tell(told) {
      ctrl.told = told;
      if (told.accepted) {
        ctrl.image = rows.imageOf(ctrl.image, told.accepted);
      }
      block(told.state === 'refused' && !told.message);
    }

    function block(isBlocked) {
      form.find('[type=submit]').prop('disabled', isBlocked);
    }
  }
})();
