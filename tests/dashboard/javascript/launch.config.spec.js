'use strict';

describe('Launch Instance', function () {
  var NOVA = 'horizon.app.core.openstack-service-api.nova';
  var WORKFLOW = 'horizon.dashboard.project.workflow.launch-instance.workflow';
  var offers, service, toast, $rootScope;

  beforeEach(module('horizon.image-props-override', function ($provide) {
    $provide.factory('horizon.image-props-override.service', ['$q', function ($q) {
      offers = $q.defer();
      return {
        offered: jasmine.createSpy('offered').and.callFake(function () { return offers.promise; }),
        launch: jasmine.createSpy('launch').and.callFake(function () {
          return $q.resolve('launched');
        }),
        lines: function (refused) { return 'lines of ' + refused.message; }
      };
    }]);
    toast = jasmine.createSpyObj('toast', ['add']);
    $provide.value('horizon.framework.widgets.toast.service', toast);
  }));
  beforeEach(inject(['$rootScope', 'horizon.image-props-override.service', function (scope, found) {
    $rootScope = scope;
    service = found;
  }]));

  function settled(promise) {
    var told = outcomeOf(promise);
    $rootScope.$apply();
    return told;
  }

  describe('the step', function () {
    var steps;

    beforeEach(inject(['$httpBackend', WORKFLOW, function ($httpBackend, workflow) {
      // Horizon's own steps ask for the user, services, settings and policies.
      $httpBackend.whenGET(/^\/api\/(keystone|settings)\//).respond({});
      $httpBackend.whenPOST('/api/policy/').respond({});
      steps = workflow.steps;
    }]));

    function step() {
      return steps.filter(function (each) {
        return each.id === 'image-props-override';
      })[0];
    }

    it('comes after the flavor', function () {
      expect(steps[steps.indexOf(step()) - 1].id).toBe('flavor');
    });

    it('is there where something may be overridden, or a preset be used', inject(function ($q) {
      [
        [{properties: [CHOICES.bus], presets: []}, true],
        [{properties: [], presets: [{name: 'ide'}]}, true],
        [{properties: [], presets: []}, false],
        // A cloud without the extension.
        [null, false]
      ].forEach(function (each) {
        service.offered.and.returnValue($q.resolve(each[0]));
        expect(settled(step().checkReadiness()).value).toBe(each[1]);
      });
      // A page may have been open for long.
      expect(service.offered).toHaveBeenCalledWith(true);
    }));

    it('is not there, and says so, where the cloud cannot be asked', function () {
      offers.reject({status: 500});
      expect(settled(step().checkReadiness()).value).toBe(false);
      expect(toast.add).toHaveBeenCalledWith(
        'error', 'Unable to retrieve what may be overridden.');
    });
  });

  describe('a launch', function () {
    var nova, $httpBackend;

    beforeEach(inject(['$httpBackend', NOVA, function (backend, found) {
      $httpBackend = backend;
      nova = found;
    }]));

    it('without overrides is Horizon\'s own', function () {
      $httpBackend.expectPOST('/api/nova/servers/', {name: 'guest'}).respond({id: 'a'});
      nova.createServer({name: 'guest'});
      $httpBackend.flush();
      expect(service.launch).not.toHaveBeenCalled();
    });

    it('with overrides, or a preset as it is, goes to the plugin\'s view', function () {
      [
        {name: 'guest', image_props_override: {hw_disk_bus: 'scsi'}},
        {image_props_override: {}, image_props_override_preset: 'ide'}
      ].forEach(function (spec) {
        expect(settled(nova.createServer(spec)).value).toBe('launched');
        expect(service.launch.calls.mostRecent().args).toEqual([spec]);
      });
    });

    it('that is refused keeps the wizard open, with every reason', inject(function ($q) {
      var refused = {message: 'No.', problems: {hw_disk_bus: {reason: 'no'}}};
      var heard = jasmine.createSpy('heard');
      var off = $rootScope.$on('image-props-override.refused', heard);
      service.launch.and.callFake(function () { return $q.reject(refused); });
      expect(settled(nova.createServer({image_props_override: {hw_disk_bus: 'x'}})).reason)
        .toBe('lines of No.');
      off();
      expect(heard.calls.mostRecent().args[1]).toBe(refused);
    }));

    it('that fails otherwise says why, and never what was sent', inject(function ($q) {
      function reason(failure) {
        service.launch.and.callFake(function () { return $q.reject(failure); });
        return settled(nova.createServer({image_props_override: {hw_disk_bus: 'x'}})).reason;
      }
      expect(reason({status: 500, data: 'The disk is full.'})).toBe('The disk is full.');
      expect(reason({status: -1, data: null, config: {data: {admin_pass: 'secret'}}})).toBe(
        'No answer has come. The instance may have been created all the same.');
    }));
  });
});
