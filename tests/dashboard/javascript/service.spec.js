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
    var again = null;
    service.offered().then(function (value) {
      again = value;
    });
    inject(function ($rootScope) {
      $rootScope.$apply();
    });
    expect(again).toEqual(offered);
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
