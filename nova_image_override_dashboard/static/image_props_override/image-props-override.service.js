(function () {
  'use strict';

  angular
    .module('horizon.image-props-override')
    .factory('horizon.image-props-override.asker', asker)
    .factory('horizon.image-props-override.service', service);

  asker.$inject = ['$timeout'];

  /**
   * What makes live checks: a question is asked once it has not changed for a
   * while, and the answer to an earlier one is dropped.
   *
   * "tell" is given what the editor shows of it: {state}, of a refusal also
   * {problems, message}, of what is accepted {accepted, nodes}.
   */
  function asker($timeout) {
    var QUIET = 400;
    var PASSING = ['host_not_ready', 'scheduler_unavailable', 'wrong_state'];

    return function (tell) {
      var waiting = null;
      var last = 0;
      return {ask: ask, read: read, stop: stop};

      function ask(question) {
        stop();
        tell({state: 'checking'});
        waiting = $timeout(function () {
          question().then(unlessStopped(read), unlessStopped(function () {
            tell({state: 'unknown'});
          }));
        }, QUIET);
      }

      /*
       * What refuses no property, such as a quota or a lock, may have gone when
       * it is tried, and so may what PASSING names: that has a message.
       */
      function read(answer) {
        var refused = answer.refused;
        var accepted = answer.accepted;
        tell(refused ? {
          state: 'refused',
          problems: refused.problems,
          message: Object.keys(refused.problems).every(function (name) {
            return PASSING.indexOf(refused.problems[name].code) >= 0;
          }) ? refused.message : ''
        } : {
          state: 'accepted',
          accepted: accepted,
          nodes: accepted.numa_topology && accepted.numa_topology.nodes
        });
      }

      function stop() {
        $timeout.cancel(waiting);
        last++;
        tell({});
      }

      function unlessStopped(handle) {
        var number = last;
        return function (answer) {
          if (number === last) {
            handle(answer);
          }
        };
      }
    };
  }

  service.$inject = ['$q', 'horizon.framework.util.http.service'];

  /**
   * What the plugin's REST views say.
   *
   * No function tells the user about a failure: the callers know where.
   */
  function service($q, http) {
    var URL = '/api/image-props-override/';
    var asked = null;

    return {
      offered: offered,
      check: check,
      launch: launch,
      lines: lines
    };

    /**
     * Ask what the user may override; once, unless it is to be asked anew.
     *
     * @param {boolean} anew - for what opens in a page, which may be old
     * @returns {Promise} of {properties, presets}, or of null if the cloud does not
     * have the extension
     */
    function offered(anew) {
      if (anew || !asked) {
        asked = http.get(URL).then(function (response) {
          // 204 No Content has an empty text.
          return response.data || null;
        }, function (response) {
          asked = null;
          return $q.reject(response);
        });
      }
      return asked;
    }

    /**
     * Ask what a create would get.
     *
     * @param {Object} server - what the create would have under "server"
     * @param {Object} asked - {image_props_override, image_props_override_preset}
     * @returns {Promise} of {accepted} or {refused: {message, problems}}
     */
    function check(server, asked) {
      return http.post(URL + 'check/', angular.extend({server: server}, asked))
        .then(function (response) {
          return response.data;
        });
    }

    /**
     * Create an instance as Horizon's own API does, with overrides.
     *
     * @param {Object} spec - what novaAPI.createServer is given
     * @returns {Promise} rejected with the reasons when the cloud refuses
     */
    function launch(spec) {
      return http.post(URL + 'servers/', spec).then(function (response) {
        return response.data.refused ? $q.reject(response.data.refused) : response;
      });
    }

    /**
     * Return what is refused, a line for each property if there are any.
     *
     * @param {Object} refused - {message, problems}
     * @returns {string} The lines
     */
    function lines(refused) {
      var names = Object.keys(refused.problems).sort();
      return names.length ? names.map(function (name) {
        return name + ': ' + refused.problems[name].reason;
      }).join('\n') : refused.message;
    }
  }
})();
