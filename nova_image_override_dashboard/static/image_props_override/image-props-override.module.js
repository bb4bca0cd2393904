(function () {
  'use strict';

  /**
   * Image property overrides, beside Horizon's own panels.
   */
  angular.module('horizon.image-props-override', [
    'horizon.app.core',
    'horizon.framework',
    'horizon.dashboard.project.workflow.launch-instance'
  ]);
})();
