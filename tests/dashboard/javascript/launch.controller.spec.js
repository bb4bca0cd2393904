'use strict';

describe('The step of Launch Instance', function () {
  var IMAGE = {id: 'debian', properties: {hw_disk_bus: 'virtio', hw_vif_model: 'e1000'}};
  var ACCEPTED = {accepted: {
    properties: {hw_disk_bus: 'scsi', os_distro: 'debian', hw_boot_menu: 'true'},
    overridden: {
      hw_disk_bus: {value: 'scsi', image_value: 'virtio'},
      hw_boot_menu: {value: 'true', image_value: null}
    }
  }};
  var REFUSED = {refused: {message: 'No.', problems: {hw_disk_bus: {reason: 'no'}}}};
  var ctrl, form, model, answers, offers, service, $document, $scope, $timeout, $rootScope;

  beforeEach(module('horizon.image-props-override'));
  beforeEach(inject(function ($controller, $q, _$rootScope_, _$timeout_) {
    $rootScope = _$rootScope_;
    $timeout = _$timeout_;
    $scope = $rootScope.$new();
    model = {newInstanceSpec: {
      flavor: {id: '1'}, source: [IMAGE], source_type: {type: 'image'}, vol_create: false
    }};
    answers = [];
    offers = $q.defer();
    service = {
      offered: function () { return offers.promise; },
      check: jasmine.createSpy('check').and.callFake(function () {
        answers.push($q.defer());
        return answers[answers.length - 1].promise;
      })
    };
    // What the wizard of Horizon has there.
    form = {$setValidity: jasmine.createSpy('$setValidity')};
    $scope.wizardForm = {launchInstanceImagePropsForm: form};
    $scope.viewModel = {hasError: false};
    $document = [{querySelector: jasmine.createSpy('querySelector').and.returnValue(null)}];
    ctrl = $controller('ImagePropsLaunchController', {
      $document: $document,
      $scope: $scope,
      launchInstanceModel: model,
      'horizon.image-props-override.service': service
    });
    offers.resolve({properties: [CHOICES.bus]});
    $scope.$apply();
  }));

  function ask(overrides) {
    ctrl.take(overrides || {hw_disk_bus: 'scsi'}, null, true);
  }

  function check(overrides) {
    ask(overrides);
    $timeout.flush();
  }

  function answer(index, value) {
    answers[index].resolve(value);
    $scope.$apply();
  }

  function neverAsks() {
    // AngularJS has tasks of its own.
    $timeout.flush(10000);
    expect(service.check).not.toHaveBeenCalled();
  }

  function checked() {
    return service.check.calls.mostRecent().args[0];
  }

  it('shows what the image itself says', function () {
    expect(ctrl.image).toEqual(IMAGE.properties);
  });

  it('puts what is asked for into what is launched', function () {
    ask({hw_disk_bus: null});
    expect(model.newInstanceSpec.image_props_override).toEqual({hw_disk_bus: null});
    expect(model.newInstanceSpec.image_props_override_preset).toBeNull();
  });

  it('puts nothing there where nothing is overridden, or no longer', function () {
    ask();
    ask({});
    expect(model.newInstanceSpec.image_props_override).toBeNull();
  });

  it('puts a preset there, and what differs from it', function () {
    ctrl.take({}, 'ide', true);
    expect(model.newInstanceSpec.image_props_override).toEqual({});
    expect(model.newInstanceSpec.image_props_override_preset).toBe('ide');
  });

  describe('asks the cloud', function () {
    it('of what is overridden, with flavor and source', function () {
      check();
      expect(service.check.calls.allArgs()).toEqual([
        [{flavorRef: '1', imageRef: 'debian'}, {
          image_props_override: {hw_disk_bus: 'scsi'}, image_props_override_preset: null
        }]]);
    });

    it('of a preset that nothing is changed of', function () {
      ctrl.take({}, 'ide', true);
      $timeout.flush();
      expect(service.check.calls.mostRecent().args[1]).toEqual({
        image_props_override: {}, image_props_override_preset: 'ide'
      });
    });

    function change(spec) {
      angular.extend(model.newInstanceSpec, spec);
      $scope.$apply();
      $timeout.flush();
    }

    it('again when the flavor changes', function () {
      check();
      change({flavor: {id: '2'}});
      expect(checked().flavorRef).toBe('2');
    });

    it('again when a volume gets another size', function () {
      check();
      change({vol_create: true});
      change({vol_size: 7});
      expect(checked().block_device_mapping_v2[0].volume_size).toBe(7);
    });

    it('again with a config drive, which takes a place of its own', function () {
      check();
      expect(checked().config_drive).toBeUndefined();
      change({config_drive: true});
      expect(checked().config_drive).toBe(true);
    });

    it('nothing where nothing is overridden', function () {
      ask({});
      neverAsks();
      expect(ctrl.told).toEqual({});
    });

    it('nothing of a value that is wrong by itself', function () {
      ctrl.take({hw_cpu_cores: '0'}, null, false);
      neverAsks();
    });

    it('nothing before flavor and source are chosen', function () {
      model.newInstanceSpec.flavor = null;
      ask();
      expect(ctrl.told.state).toBe('incomplete');
      model.newInstanceSpec.flavor = {id: '1'};
      model.newInstanceSpec.source = null;
      ask();
      expect(ctrl.told.state).toBe('incomplete');
      neverAsks();
    });

    it('nothing more once the wizard is closed', function () {
      ask();
      $scope.$destroy();
      neverAsks();
    });
  });

  it('asks about each kind of source as the wizard launches it', function () {
    var SIZE = {vol_create: true, vol_size: 3};
    [
      // Not known.
      [null, {}, 'volume'], ['volume', SIZE, 'volume'], ['volume_snapshot', {}, 'snapshot'],
      ['image', {}, null], ['snapshot', {}, null], ['image', SIZE, 'image', 3],
      ['snapshot', SIZE, 'image', 3]
    ].forEach(function (each) {
      angular.extend(model.newInstanceSpec, {vol_create: false}, each[1], {
        source_type: each[0] && {type: each[0]}
      });
      check();
      var device = angular.extend({
        uuid: 'debian', boot_index: '0', destination_type: 'volume', source_type: each[2]
      }, each[3] && {volume_size: each[3]});
      expect(checked()).toEqual(angular.extend({flavorRef: '1'}, each[2] ? {
        block_device_mapping_v2: [device]
      } : {imageRef: 'debian'}));
    });
  });

  it('tells what is accepted, and what the image has without the overrides', function () {
    check();
    answer(0, ACCEPTED);
    expect(ctrl.told.state).toBe('accepted');
    expect(ctrl.image).toEqual({hw_disk_bus: 'virtio', os_distro: 'debian'});
  });

  describe('tells of what is refused', function () {
    function isMarked() {
      return !form.$setValidity.calls.mostRecent().args[1];
    }

    it('at the step, which lets nobody launch, until it is corrected there', inject([
      'horizon.framework.widgets.wizard.events', function (events) {
        check();
        expect(isMarked()).toBe(false);
        answer(0, REFUSED);
        expect(isMarked()).toBe(true);
        $scope.$broadcast(events.ON_SWITCH);
        expect(isMarked()).toBe(true);
        ask({hw_disk_bus: 'virtio'});
        expect(isMarked()).toBe(false);
      }]));

    it('without stopping the launch where no property is to blame', function () {
      check();
      answer(0, {refused: {message: 'Quota exceeded.', problems: {}}});
      expect(isMarked()).toBe(false);
    });

    it('without a step to mark', function () {
      delete $scope.wizardForm;
      check();
      answer(0, REFUSED);
      expect(ctrl.told.state).toBe('refused');
    });

    describe('when the launch itself is refused', function () {
      function refuse() {
        $rootScope.$broadcast('image-props-override.refused', REFUSED.refused);
        $scope.viewModel.hasError = true;
      }

      it('at the properties, too, even if an earlier check is answered only now', function () {
        check();
        refuse();
        answer(0, ACCEPTED);
        expect(ctrl.told.state).toBe('refused');
        expect(isMarked()).toBe(true);
      });

      it('where the user sees it', function () {
        var said = {scrollIntoView: jasmine.createSpy('scrollIntoView')};
        $document[0].querySelector.and.returnValue(said);
        refuse();
        $timeout.flush();
        expect(said.scrollIntoView).toHaveBeenCalledWith();
      });

      it('where the wizard does not say it', function () {
        refuse();
        $timeout.flush();
        expect($document[0].querySelector).toHaveBeenCalledWith('.ng-wizard .error-message');
      });

      it('until something changes, and not longer', function () {
        refuse();
        ask({hw_disk_bus: 'virtio'});
        expect($scope.viewModel.hasError).toBe(false);
      });

      it('without stopping a launch that is corrected in another step', inject([
        'horizon.framework.widgets.wizard.events', function (events) {
          refuse();
          $scope.$broadcast(events.ON_SWITCH);
          expect(isMarked()).toBe(false);
          expect([ctrl.told.state, $scope.viewModel.hasError]).toEqual(['refused', true]);
        }]));

      it('and leaves alone what else the wizard says', function () {
        $scope.viewModel.hasError = true;
        ask({hw_disk_bus: 'virtio'});
        expect($scope.viewModel.hasError).toBe(true);
      });
    });
  });

  describe('asks the hosts', function () {
    var HOSTS = {possible: false, in_the_way: {hw_disk_bus: 'no'}, not_asked: []};

    beforeEach(function () {
      model.newInstanceSpec.availability_zone = 'az1';
      $scope.$apply();
      check();
      answer(0, ACCEPTED);
    });

    function askHosts() {
      ctrl.askHosts();
      $timeout.flush(10000);
    }

    it('only when the user wants it, with the zone that is chosen', function () {
      expect(service.check.calls.count()).toBe(1);
      askHosts();
      expect(ctrl.hosts.state).toBe('checking');
      expect(service.check.calls.mostRecent().args).toEqual([
        {flavorRef: '1', imageRef: 'debian', availability_zone: 'az1'},
        {
          hosts: true, image_props_override: {hw_disk_bus: 'scsi'},
          image_props_override_preset: null
        }]);
      answer(1, {accepted: {hosts: HOSTS}});
      expect(ctrl.hosts.accepted.hosts).toEqual(HOSTS);
      expect(ctrl.told.state).toBe('accepted');
    });

    it('not again once it has been said that this user may not', function () {
      askHosts();
      answer(1, {refused: {message: 'No.', problems: {hosts: {code: 'policy', reason: 'no'}}}});
      expect([ctrl.hosts.state, ctrl.mayAskHosts]).toEqual(['refused', false]);
      ask({hw_disk_bus: 'virtio'});
      expect(ctrl.mayAskHosts).toBe(false);
    });

    it('again where it is refused for something else', function () {
      askHosts();
      answer(1, {refused: {message: 'Quota exceeded.', problems: {}}});
      expect([ctrl.hosts.message, ctrl.mayAskHosts]).toEqual(['Quota exceeded.', true]);
    });

    it('and says at the properties what a create is refused for by now', function () {
      var problems = {hw_disk_bus: {code: 'not_allowed', reason: 'no'}};
      askHosts();
      answer(1, {refused: {message: 'No.', problems: problems}});
      expect([ctrl.told.state, ctrl.told.problems]).toEqual(['refused', problems]);
      expect(ctrl.mayAskHosts).toBe(true);
    });

    it('and says so where they cannot be asked', function () {
      askHosts();
      answers[1].reject({status: 502});
      $scope.$apply();
      expect(ctrl.hosts.state).toBe('unknown');
    });

    it('and drops the answer once something has changed', function () {
      askHosts();
      model.newInstanceSpec.availability_zone = 'az2';
      $scope.$apply();
      answer(1, {accepted: {hosts: HOSTS}});
      expect(ctrl.hosts).toEqual({});
    });
  });

  it('shows no properties of a source that has none', function () {
    model.newInstanceSpec.source = [{id: 'volume', volume_image_metadata: {os_distro: 'fedora'}}];
    $scope.$apply();
    expect(ctrl.image).toEqual({os_distro: 'fedora'});
    model.newInstanceSpec.source = [{id: 'empty'}];
    $scope.$apply();
    expect(ctrl.image).toEqual({});
  });
});
