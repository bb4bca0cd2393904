(function () {
  'use strict';

  /**
   * Image property overrides, next to Horizon's own panels.
   */
  angular
    .module('horizon.image-props-override', [
      'horizon.app.core',
      'horizon.framework',
      'horizon.dashboard.project.workflow.launch-instance'
    ])
    .config(config);

  config.$inject = ['$provide', '$windowProvider'];

  function config($provide, $windowProvider) {
    $provide.constant('horizon.image-props-override.basePath',
      $windowProvider.$get().STATIC_URL + 'image_props_override/');
  }
})();
