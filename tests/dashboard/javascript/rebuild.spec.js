'use strict';

describe('The form of a rebuild', function () {
  var SCSI = {name: 'scsi', digest: '1', description: '', flavors: [],
    properties: {hw_disk_bus: 'scsi'}};
  var NAMED = {name: 'scsi', digest: '1'};
  var $q, $scope, $timeout, answers, editService, element, found, images, loaded;

  beforeEach(module('gettext', 'horizon.image-props-override', 'templates', function ($provide) {
    $provide.value('horizon.image-props-override.edit.service', {
      load: function () { return loaded.promise; },
      checkRebuild: function () {}
    });
    $provide.value('horizon.app.core.openstack-service-api.glance', {
      getImage: function (id) {
        images[id] = $q.defer();
        return images[id].promise;
      }
    });
  }));
  beforeEach(inject([
    '$q', '$rootScope', '$timeout', 'horizon.image-props-override.edit.service',
    function (_$q_, $rootScope, _$timeout_, service) {
      $q = _$q_;
      $scope = $rootScope.$new();
      $timeout = _$timeout_;
      answers = [];
      images = {};
      loaded = $q.defer();
      editService = service;
      spyOn(editService, 'checkRebuild').and.callFake(function () {
        answers.push($q.defer());
        return answers[answers.length - 1].promise;
      });
      found = {
        offered: {properties: [CHOICES.bus, CHOICES.cores], presets: [SCSI]},
        server: {overrides: {hw_cpu_cores: '2'}, preset: null, image: {hw_disk_bus: 'ide'}}
      };
    }]));
  afterEach(function () {
    element.remove();
  });

  function show(sent, image) {
    element = angular.element(
      '<form action="/"><select name="image"><option value=""></option>' +
      '<option value="a">A</option><option value="b">B</option></select>' +
      '<image-props-rebuild server="guest" sent="' +
      encodeURIComponent(angular.toJson(sent || null)) + '"></image-props-rebuild>' +
      '<input type="submit"></form>');
    element.find('select').val(image || '');
    angular.element(document.body).append(element);
    inject(function ($compile) {
      $compile(element)($scope);
    });
    loaded.resolve(found);
    $scope.$apply();
  }

  function showWithImage() {
    show(null, 'a');
    have('a', {});
  }

  function choose(id, properties) {
    element.find('[name=image]').val(id).trigger('change');
    if (properties) {
      have(id, properties);
    }
  }

  function have(id, properties) {
    images[id].resolve({data: {properties: properties}});
    $scope.$apply();
  }

  function write(name, value) {
    var input = element.find('[data-property="' + name + '"]').find('input, select')[0];
    input.value = value;
    input.dispatchEvent(new Event(input.tagName === 'SELECT' ? 'change' : 'input'));
    $scope.$apply();
  }

  function answer(index, value) {
    answers[index].resolve(value);
    $scope.$apply();
  }

  function sends() {
    var value = element.find('[name=image_props_override]').val();
    return value && angular.fromJson(value);
  }

  function isBlocked() {
    return element.find('[type=submit]').prop('disabled');
  }

  function said() {
    return element.find('[role=status]').text().replace(/\s+/g, ' ').trim();
  }

  it('leaves what the image has under a legacy name when a preset is dropped', function () {
    found.server = {overrides: SCSI.properties, preset: SCSI, image: {}};
    show();
    choose('a', {vmware_adaptertype: 'ide'});
    write('hw_disk_bus', '');
    $timeout.flush();
    expect(sends().image_props_override).toEqual({hw_disk_bus: null});
    answer(0, {accepted: {overridden: {hw_disk_bus: {value: null, image_value: 'ide'}}}});
    expect(sends().image_props_override).toEqual({hw_disk_bus: 'ide'});
    $timeout.flush();
    answer(1, {accepted: {overridden: {}}});
    expect(sends().image_props_override).toEqual({hw_disk_bus: 'ide'});
  });

  it('asks of what the instance has once an image is chosen, and sends nothing of it', function () {
    show();
    $timeout.flush(10000);
    expect(editService.checkRebuild).not.toHaveBeenCalled();
    expect(said()).toBe('Choose an image to see whether the cloud accepts this.');
    choose('a', {});
    $timeout.flush();
    expect(editService.checkRebuild.calls.allArgs()).toEqual([['guest', {image: 'a'}]]);
    answer(0, {accepted: {overridden: {}}});
    expect(said()).toBe('The cloud accepts this.');
    expect(sends()).toBe('');
    choose('', null);
    expect(said()).toBe('Choose an image to see whether the cloud accepts this.');
  });

  it('asks of what is changed, and sends that', function () {
    var changed = {
      image_props_override: {hw_cpu_cores: '2', hw_disk_bus: 'scsi'},
      image_props_override_preset: null
    };
    show();
    choose('a', {});
    write('hw_disk_bus', 'string:scsi');
    $timeout.flush();
    expect(editService.checkRebuild.calls.allArgs()).toEqual([
      ['guest', angular.extend({image: 'a'}, changed)]]);
    expect(sends()).toEqual(changed);
    write('hw_disk_bus', '');
    expect(sends()).toBe('');
  });

  it('shows what the chosen image has, and asks again of another one', function () {
    show();
    choose('a', {hw_disk_bus: 'virtio'});
    expect(element.find('.image-props-own code').text()).toBe('virtio');
    $timeout.flush();
    choose('b', {hw_disk_bus: 'scsi'});
    expect(element.find('.image-props-own code').text()).toBe('scsi');
    answer(0, {refused: {message: 'No.', problems: {}}});
    $timeout.flush();
    expect(editService.checkRebuild.calls.mostRecent().args[1].image).toBe('b');
    expect(said()).toBe('Asking the cloud whether it accepts this.');
  });

  it('waits for the properties of the image that is chosen last', function () {
    show();
    choose('a');
    expect(isBlocked()).toBe(true);
    choose('b');
    have('a', {hw_disk_bus: 'virtio'});
    expect(isBlocked()).toBe(true);
    have('b', {hw_disk_bus: 'scsi'});
    expect(isBlocked()).toBe(false);
    expect(element.find('.image-props-own code').text()).toBe('scsi');
  });

  it('waits for them whatever is changed in the meantime, and asks nothing', function () {
    show();
    choose('a');
    write('hw_cpu_cores', '4');
    $timeout.flush(10000);
    expect(isBlocked()).toBe(true);
    expect(editService.checkRebuild).not.toHaveBeenCalled();
    have('a', {});
    expect(isBlocked()).toBe(false);
    $timeout.flush();
    expect(editService.checkRebuild.calls.count()).toBe(1);
  });

  it('can be sent where the image cannot be read', function () {
    show();
    choose('a');
    images.a.resolve();
    $scope.$apply();
    expect(isBlocked()).toBe(false);
    expect(element.find('.image-props-own').length).toBe(0);
  });

  it('lets nobody send what a property is refused for, until it is corrected', function () {
    showWithImage();
    $timeout.flush();
    answer(0, {refused: {message: 'No.', problems: {hw_cpu_cores: {reason: 'too many'}}}});
    expect(element.find('.image-props-error').text()).toBe('too many');
    expect(isBlocked()).toBe(true);
    write('hw_cpu_cores', '1');
    expect(isBlocked()).toBe(false);
  });

  it('lets nobody send what is wrong by itself, and does not ask', function () {
    showWithImage();
    write('hw_cpu_cores', '65');
    $timeout.flush(10000);
    expect(editService.checkRebuild).not.toHaveBeenCalled();
    expect(isBlocked()).toBe(true);
  });

  it('can be sent where no property is to blame, or the cloud cannot be asked', function () {
    showWithImage();
    $timeout.flush();
    answer(0, {refused: {message: 'It is locked.', problems: {}}});
    expect(said()).toContain('It is locked.');
    expect(isBlocked()).toBe(false);
    write('hw_cpu_cores', '1');
    $timeout.flush();
    answers[1].reject({status: 502});
    $scope.$apply();
    expect(said()).toContain('could not be asked');
    expect(isBlocked()).toBe(false);
  });

  it('keeps a preset that leaves the image its own property, whichever image it is', function () {
    found.server = {overrides: {}, preset: NAMED, image: null};
    show();
    choose('a', {hw_disk_bus: 'virtio'});
    $timeout.flush();
    choose('b', {});
    $timeout.flush();
    expect(editService.checkRebuild.calls.allArgs()).toEqual([
      ['guest', {image: 'a'}], ['guest', {image: 'b'}]]);
    expect(sends()).toBe('');
  });

  it('asks for what differs from a preset, by the image that is chosen', function () {
    found.server = {overrides: {}, preset: NAMED, image: null};
    show();
    choose('a', {hw_disk_bus: 'virtio'});
    write('hw_cpu_cores', '4');
    expect(sends().image_props_override).toEqual({hw_cpu_cores: '4', hw_disk_bus: 'virtio'});
    choose('b', {});
    expect(sends()).toEqual({
      image_props_override: {hw_cpu_cores: '4', hw_disk_bus: null},
      image_props_override_preset: NAMED
    });
  });

  it('has again what it was sent with', function () {
    var sent = {
      image_props_override: {hw_cpu_cores: '{$ 4 $}'},
      image_props_override_preset: NAMED
    };
    found.offered.properties[1] = angular.extend({}, CHOICES.line, {name: 'hw_cpu_cores'});
    show(sent, 'a');
    have('a', {});
    expect(sends()).toEqual(sent);
    expect(element.find('#image-props-preset option:selected').text()).toContain('scsi');
    $timeout.flush();
    expect(editService.checkRebuild.calls.allArgs()).toEqual([
      ['guest', angular.extend({image: 'a'}, sent)]]);
  });

  it('has again what it was sent with where its preset is no longer offered', function () {
    show({image_props_override: {}, image_props_override_preset: {name: 'gone', digest: '1'}});
    expect(sends()).toEqual({image_props_override: {}, image_props_override_preset: null});
  });

  it('is Horizon\'s own where the editor cannot be had, and sends again what it had', function () {
    loaded.reject({status: 502});
    [null, {image_props_override: {}, image_props_override_preset: null}].forEach(function (sent) {
      show(sent, 'a');
      expect(element.find('image-props-editor').length).toBe(0);
      expect(sends()).toEqual(sent || '');
      expect(isBlocked()).toBe(false);
      element.remove();
    });
  });

  it('is not sent by the key that ends a search', function () {
    function press(key) {
      var event = angular.element.Event('keydown', {which: key});
      element.find('#image-props-search').trigger(event);
      return event.isDefaultPrevented();
    }
    show();
    expect([press(13), press(65)]).toEqual([true, false]);
  });

  it('asks nothing more once it is closed', function () {
    showWithImage();
    $scope.$destroy();
    element.find('[name=image]').val('b').trigger('change');
    $timeout.flush(10000);
    expect(editService.checkRebuild).not.toHaveBeenCalled();
    expect(images.b).toBeUndefined();
  });
});
