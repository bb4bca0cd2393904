'use strict';

describe('What the plugin\'s REST views say', function () {
  var service, $httpBackend;

  beforeEach(module('horizon.image-props-override'));
  beforeEach(inject([
    '$httpBackend', 'horizon.image-props-override.service', function (backend, found) {
      $httpBackend = backend;
      service = found;
    }]));
  afterEach(function () {
    $httpBackend.verifyNoOutstandingExpectation();
    $httpBackend.verifyNoOutstandingRequest();
  });

  function outcome(promise) {
    var told = outcomeOf(promise);
    $httpBackend.flush();
    return told;
  }

  it('is asked once what may be overridden', function () {
    var offered = {properties: [CHOICES.bus]};
    $httpBackend.expectGET('/api/image-props-override/').respond(offered);
    expect(outcome(service.offered()).value).toEqual(offered);
    var again = outcomeOf(service.offered());
    inject(function ($rootScope) {
      $rootScope.$apply();
    });
    expect(again.value).toEqual(offered);
  });

  it('is asked anew where something opens', function () {
    [{properties: []}, {properties: [CHOICES.bus]}].forEach(function (offered) {
      $httpBackend.expectGET('/api/image-props-override/').respond(offered);
      expect(outcome(service.offered(true)).value).toEqual(offered);
    });
  });

  it('is null of a cloud without the extension', function () {
    $httpBackend.expectGET('/api/image-props-override/').respond(204, '');
    expect(outcome(service.offered()).value).toBeNull();
  });

  it('is asked again after a failure', function () {
    $httpBackend.expectGET('/api/image-props-override/').respond(500, 'no');
    expect(outcome(service.offered()).reason.status).toBe(500);
    $httpBackend.expectGET('/api/image-props-override/').respond({properties: []});
    expect(outcome(service.offered()).value).toEqual({properties: []});
  });

  it('is what a create would get', function () {
    var asked = {image_props_override: {hw_disk_bus: null}, image_props_override_preset: 'ide'};
    $httpBackend.expectPOST(
      '/api/image-props-override/check/', angular.extend({server: {flavorRef: '1'}}, asked)
    ).respond({accepted: {}});
    expect(outcome(service.check({flavorRef: '1'}, asked)).value).toEqual({accepted: {}});
  });

  it('is the instance that was launched', function () {
    $httpBackend.expectPOST('/api/image-props-override/servers/', {name: 'guest'})
      .respond({id: 'a'});
    expect(outcome(service.launch({name: 'guest'})).value.data).toEqual({id: 'a'});
  });

  it('rejects a launch that the cloud refuses, with the reasons', function () {
    var refused = {message: 'No.', problems: {}};
    $httpBackend.expectPOST('/api/image-props-override/servers/').respond({refused: refused});
    expect(outcome(service.launch({})).reason).toEqual(refused);
  });

  it('is told in a line for each property', function () {
    expect(service.lines({message: 'No.', problems: {
      hw_vif_model: {reason: 'not allowed'}, hw_disk_bus: {reason: 'unknown value'}
    }})).toBe('hw_disk_bus: unknown value\nhw_vif_model: not allowed');
  });

  it('is told in the cloud\'s words where no property is named', function () {
    expect(service.lines({message: 'Quota exceeded.', problems: {}})).toBe('Quota exceeded.');
  });
});

describe('What the cloud says after a change', function () {
  var answers, asking, question, told, $rootScope, $timeout;

  beforeEach(module('horizon.image-props-override'));
  beforeEach(inject([
    '$q', '$rootScope', '$timeout', 'horizon.image-props-override.asker',
    function ($q, scope, timeout, asker) {
      $rootScope = scope;
      $timeout = timeout;
      answers = [];
      question = jasmine.createSpy('question').and.callFake(function () {
        answers.push($q.defer());
        return answers[answers.length - 1].promise;
      });
      asking = asker(function (said) {
        told = said;
      });
    }]));

  function ask() {
    asking.ask(question);
    $timeout.flush();
  }

  function answer(index, value) {
    answers[index].resolve(value);
    $rootScope.$apply();
  }

  it('is asked once nothing has changed for a while', function () {
    asking.ask(question);
    $timeout.flush(399);
    asking.ask(question);
    $timeout.flush(399);
    expect(question).not.toHaveBeenCalled();
    expect(told).toEqual({state: 'checking'});
    $timeout.flush(1);
    expect(question.calls.count()).toBe(1);
  });

  it('is told with the NUMA nodes, if the guest has any', function () {
    [[{nodes: [{id: 0}]}, [{id: 0}]], [null, null]].forEach(function (each, index) {
      var accepted = {overridden: {}, numa_topology: each[0]};
      ask();
      answer(index, {accepted: accepted});
      expect(told).toEqual({state: 'accepted', accepted: accepted, nodes: each[1]});
    });
  });

  it('is told at the properties, or in its words if there are none, or all may pass', function () {
    var passes = {code: 'scheduler_unavailable'};
    var stays = {code: 'invalid_value'};
    [
      [{hw_disk_bus: stays}, ''], [{}, 'No.'], [{hw_disk_bus: passes}, 'No.'],
      [{hw_disk_bus: passes, hw_vif_model: stays}, '']
    ].forEach(function (each, index) {
      ask();
      answer(index, {refused: {message: 'No.', problems: each[0]}});
      expect(told).toEqual({state: 'refused', problems: each[0], message: each[1]});
    });
  });

  it('is not known where it cannot be asked', function () {
    ask();
    answers[0].reject({status: 502});
    $rootScope.$apply();
    expect(told).toEqual({state: 'unknown'});
  });

  it('is dropped, and so is a failure, once it is no longer asked for', function () {
    ask();
    ask();
    ask();
    answer(0, {refused: {message: 'No.', problems: {}}});
    answers[1].reject({status: 502});
    $rootScope.$apply();
    expect(told).toEqual({state: 'checking'});
    asking.stop();
    answer(2, {accepted: {}});
    expect(told).toEqual({});
  });
});
