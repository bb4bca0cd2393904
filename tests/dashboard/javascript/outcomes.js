'use strict';

/*
 * The outcome of a promise: "value" or "reason", once AngularJS reports it.
 */
function outcomeOf(promise) {
  var told = {};
  promise.then(function (value) {
    told.value = value;
  }, function (reason) {
    told.reason = reason;
  });
  return told;
}
