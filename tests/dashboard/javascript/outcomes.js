'use strict';

/*
 * What comes of a promise: "value" or "reason", once AngularJS has told it.
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
