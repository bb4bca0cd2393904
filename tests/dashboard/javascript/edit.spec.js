'use strict';

describe('The dialog that edits overrides', function () {
  var SERVER = {
    name: 'guest',
    overrides: {hw_disk_bus: 'scsi', 'hw_numa_cpus.0': '0'},
    preset: {name: 'scsi', digest: '1'},
    image: {hw_disk_bus: 'virtio'}
  };
  var ctrl, dialog, saved, checked, editService, $rootScope, $timeout, make;

  beforeEach(module('horizon.image-props-override'));
  beforeEach(inject(function ($controller, $q, _$rootScope_, _$timeout_) {
    $timeout = _$timeout_;
    $rootScope = _$rootScope_;
    dialog = jasmine.createSpyObj('dialog', ['close', 'dismiss']);
    saved = $q.defer();
    checked = [];
    editService = {
      check: jasmine.createSpy('check').and.callFake(function () {
        checked.push($q.defer());
        return checked[checked.length - 1].promise;
      }),
      save: jasmine.createSpy('save').and.returnValue(saved.promise)
    };
    make = function (also) {
      return $controller('ImagePropsEditController', angular.extend({
        $uibModalInstance: dialog,
        'horizon.image-props-override.edit.service': editService,
        id: 'a',
        offered: {properties: [CHOICES.bus, CHOICES.nodes], presets: [{name: 'scsi', digest: '1'}]},
        server: angular.copy(SERVER)
      }, also));
    };
    ctrl = make();
  }));

  function answer(value) {
    saved.resolve(value);
    $rootScope.$apply();
  }

  it('has nothing to save before something is changed', function () {
    // The editor reports at once what it has been given.
    ctrl.take({'hw_numa_cpus.0': '0'}, 'scsi');
    expect(ctrl.isChanged).toBe(false);
    ctrl.take({}, 'scsi');
    expect(ctrl.isChanged).toBe(true);
    ctrl.take({'hw_numa_cpus.0': '0'}, 'scsi');
    expect(ctrl.isChanged).toBe(false);
    ctrl.take({'hw_numa_cpus.0': '0'}, null);
    expect(ctrl.isChanged).toBe(true);
  });

  it('asks for the preset, and for what differs from it', function () {
    ctrl.take({'hw_numa_cpus.0': '0'}, 'scsi');
    ctrl.save();
    expect(editService.save).toHaveBeenCalledWith('a', {
      image_props_override: {'hw_numa_cpus.0': '0'}, image_props_override_preset: 'scsi'
    });
  });

  it('offers no preset while the image is not known', function () {
    expect(ctrl.presets).toEqual([{name: 'scsi', digest: '1'}]);
    ctrl = make({server: {overrides: {}, preset: null, image: null}});
    expect(ctrl.presets).toEqual([]);
  });

  it('closes when the cloud has taken the set', function () {
    ctrl.save();
    expect(ctrl.isSaving).toBe(true);
    answer({});
    expect(dialog.close).toHaveBeenCalled();
  });

  it('stays open with the reasons where the cloud refuses', function () {
    ctrl.save();
    answer({refused: {message: 'No.', problems: {hw_disk_bus: {reason: 'no'}}}});
    expect(dialog.close).not.toHaveBeenCalled();
    expect(ctrl.told).toEqual({
      state: 'refused', problems: {hw_disk_bus: {reason: 'no'}}, message: ''
    });
    expect(ctrl.isSaving).toBe(false);
    ctrl.take({hw_disk_bus: 'virtio'}, null);
    expect(ctrl.told).toEqual({});
  });

  it('says so where the cloud cannot be asked', function () {
    ctrl.save();
    saved.reject({status: 502});
    $rootScope.$apply();
    expect(ctrl.isFailed).toBe(true);
    expect(dialog.close).not.toHaveBeenCalled();
    ctrl.take({}, null);
    expect(ctrl.isFailed).toBe(false);
  });

  describe('asks the cloud after a change', function () {
    function change(value) {
      ctrl.take({hw_disk_bus: value}, null, true);
    }

    function told(index, value) {
      checked[index].resolve(value);
      $rootScope.$apply();
    }

    beforeEach(function () {
      ctrl.take({hw_disk_bus: 'scsi'}, 'scsi', true);
    });

    it('but not of what it has already, or of what is wrong by itself', function () {
      ctrl.take({hw_disk_bus: 'x'}, null, false);
      ctrl.take({hw_disk_bus: 'scsi'}, 'scsi', true);
      $timeout.flush(10000);
      expect(editService.check).not.toHaveBeenCalled();
      expect(ctrl.told).toEqual({});
    });

    it('and shows what it accepts', function () {
      change('ide');
      expect(ctrl.told.state).toBe('checking');
      $timeout.flush(400);
      expect(editService.check.calls.allArgs()).toEqual([['a', {
        image_props_override: {hw_disk_bus: 'ide'}, image_props_override_preset: null
      }]]);
      told(0, {accepted: {overridden: {hw_disk_bus: {}}}});
      expect(ctrl.told.state).toBe('accepted');
    });

    it('and learns what the image has under a legacy name', function () {
      change(null);
      $timeout.flush();
      told(0, {accepted: {overridden: {
        hw_architecture: {value: null, image_value: 'aarch64'},
        hw_disk_bus: {value: 'ide', image_value: null}
      }}});
      expect(ctrl.image).toEqual({hw_architecture: 'aarch64'});
    });

    it('and drops an answer to what is being saved', function () {
      change('ide');
      $timeout.flush();
      ctrl.save();
      told(0, {refused: {message: 'No.', problems: {}}});
      expect(ctrl.told).toEqual({});
    });

  });

  it('can be left', function () {
    ctrl.cancel();
    expect(dialog.dismiss).toHaveBeenCalled();
    expect(editService.save).not.toHaveBeenCalled();
  });

  it('opens for a user who may set nothing', function () {
    ctrl = make({offered: null, server: {overrides: {hw_disk_bus: 'scsi'}}});
    expect(ctrl.choices).toEqual([]);
    expect(ctrl.presets).toEqual([]);
    expect(ctrl.image).toEqual({});
  });
});

describe('Opening the dialog', function () {
  var URL = '/api/image-props-override/servers/a%2Fb/';
  var offered, service, modal, toast, $httpBackend;

  beforeEach(module('horizon.image-props-override', function ($provide) {
    modal = {open: jasmine.createSpy('open').and.returnValue({result: 'done'})};
    toast = {add: jasmine.createSpy('add')};
    $provide.value('$uibModal', modal);
    $provide.value('horizon.framework.widgets.toast.service', toast);
  }));
  beforeEach(inject([
    '$httpBackend', 'horizon.image-props-override.edit.service', function (backend, found) {
      $httpBackend = backend;
      service = found;
      $httpBackend.whenGET('/api/image-props-override/').respond(function () {
        return [200, {properties: offered}];
      });
      offered = [];
    }]));

  it('asks for the overrides and for what may be overridden', function () {
    $httpBackend.whenGET(URL).respond({overrides: {}});
    service.open('a/b');
    $httpBackend.flush();
    var resolve = modal.open.calls.mostRecent().args[0].resolve;
    expect(resolve.id()).toBe('a/b');
    expect(resolve.offered()).toEqual({properties: []});
    expect(resolve.server()).toEqual({overrides: {}});
    // Of a page that has been open for long.
    offered = [CHOICES.bus];
    service.open('a/b');
    $httpBackend.flush();
    expect(modal.open.calls.mostRecent().args[0].resolve.offered()).toEqual({properties: offered});
  });

  function outcome(promise) {
    var told = outcomeOf(promise);
    $httpBackend.flush();
    return told;
  }

  it('tells where they cannot be had, and does not open', function () {
    $httpBackend.expectGET(URL).respond(404);
    expect(outcome(service.open('a/b')).reason.status).toBe(404);
    expect(toast.add.calls.mostRecent().args[0]).toBe('error');
    expect(modal.open).not.toHaveBeenCalled();
  });

  it('replaces the set when it is saved', function () {
    var asked = {image_props_override: {hw_disk_bus: null}, image_props_override_preset: null};
    $httpBackend.expectPUT(URL, asked).respond({});
    expect(outcome(service.save('a/b', asked)).value).toEqual({});
  });

  it('asks what that would get before', function () {
    $httpBackend.expectPOST(URL, {image_props_override: {}}).respond({accepted: {}});
    expect(outcome(service.check('a/b', {image_props_override: {}})).value)
      .toEqual({accepted: {}});
  });

  it('asks what a rebuild would get', function () {
    $httpBackend.expectPOST(URL + 'rebuild/', {image: 'debian'}).respond({refused: {}});
    expect(outcome(service.checkRebuild('a/b', {image: 'debian'})).value)
      .toEqual({refused: {}});
  });

  describe('from a page of Django\'s', function () {
    var page, opener, done;

    beforeEach(inject(function ($controller, $q) {
      done = $q.defer();
      page = {location: {reload: jasmine.createSpy('reload')}};
      opener = $controller('ImagePropsEditOpener', {
        $window: page,
        'horizon.image-props-override.edit.service': {open: function () { return done.promise; }}
      });
      opener.open('a');
    }));

    it('loads the page anew when something has changed', inject(function ($rootScope) {
      done.resolve();
      $rootScope.$apply();
      expect(page.location.reload).toHaveBeenCalled();
    }));

    it('leaves the page alone when the dialog is left', inject(function ($rootScope) {
      done.reject('cancel');
      $rootScope.$apply();
      expect(page.location.reload).not.toHaveBeenCalled();
    }));
  });
});
