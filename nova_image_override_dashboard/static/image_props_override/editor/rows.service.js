(function () {
  'use strict';

  angular
    .module('horizon.image-props-override')
    .factory('horizon.image-props-override.rows', rows);

  /**
   * Rows of the editor: each is a property, or a member of a family.
   *
   * A row without a value asks for nothing. Everything here is plain data, so
   * that it can be tested without a browser.
   */
  function rows() {
    var LENGTH_MAX = 255;
    // ImageMetaProps.NUMA_NODES_MAX: members with numbers are those of NUMA nodes.
    var NODES_MAX = 128;

    return {
      make: make,
      nameOf: nameOf,
      valueOf: valueOf,
      isChanged: isChanged,
      wrongWith: wrongWith,
      overridesOf: overridesOf,
      beside: beside,
      imageOf: imageOf,
      matches: matches,
      nextMember: nextMember
    };

    /**
     * Make a row.
     *
     * @param {Object} choice - of the property, from the REST view
     * @param {string} rest - what distinguishes the member of a family
     * @param {string|null} value - what it is overridden with, if it is
     * @param {string|null} given - what an instance or a preset has, if anything:
     * that is right even where this user may not ask for it
     * @returns {Object} The row
     */
    function make(choice, rest, value, given) {
      var isSet = angular.isString(value);
      var isMore = choice.values && given && choice.values.indexOf(given) < 0;
      return {
        choice: choice,
        rest: rest,
        given: given,
        values: isMore ? choice.values.concat(given) : choice.values,
        removed: value === null,
        value: isSet && choice.kind !== 'integer' ? value : null,
        number: isSet && choice.kind === 'integer' ? Number(value) : null
      };
    }

    function nameOf(row) {
      return row.choice.prefix === null ? row.choice.name : row.choice.prefix + (row.rest || '');
    }

    /**
     * @param {Object} row
     * @returns {string|null|undefined} what is asked for: null to remove the
     * image's property, undefined to leave it alone
     */
    function valueOf(row) {
      if (row.removed) {
        return null;
      }
      if (row.choice.kind === 'integer') {
        // AngularJS leaves a number undefined that it cannot read: a wrong value.
        return row.number === null ? undefined : String(row.number);
      }
      return row.value || undefined;
    }

    function isChanged(row) {
      return angular.isDefined(valueOf(row));
    }

    /**
     * Return what is wrong with a row, as far as that needs no cloud.
     *
     * @param {Object} row
     * @param {Array} all - the other rows of a family among them
     * @returns {string|null} the reason, or null
     */
    function wrongWith(row, all) {
      var value = valueOf(row);
      if (angular.isUndefined(value)) {
        return null;
      }
      return wrongName(row, all) ||
        (value === null || value === row.given ? null : wrongValue(row.choice, value));
    }

    function wrongName(row, all) {
      if (row.choice.prefix === null) {
        return null;
      }
      var name = nameOf(row);
      if (!new RegExp(row.choice.name_pattern).test(name)) {
        return interpolate(gettext('%s is not a name that you may use.'), [name]);
      }
      var same = all.filter(function (other) {
        return isChanged(other) && nameOf(other) === name;
      });
      return same.length > 1
        ? interpolate(gettext('%s is there more than once.'), [name]) : null;
    }

    function wrongValue(choice, value) {
      var number = Number(value);
      var isWrong = value.length > LENGTH_MAX ||
        choice.like.some(function (pattern) { return !new RegExp(pattern).test(value); }) ||
        choice.unlike.some(function (pattern) { return new RegExp(pattern).test(value); }) ||
        choice.kind === 'integer' && !(number >= choice.minimum && number <= choice.maximum);
      return isWrong ? interpolate(gettext('Must be %s.'), [choice.expects]) : null;
    }

    /**
     * @param {Array} all - rows
     * @returns {Object} name to value, null to remove the image's property
     */
    function overridesOf(all) {
      var found = {};
      all.filter(isChanged).forEach(function (row) {
        found[nameOf(row)] = valueOf(row);
      });
      return found;
    }

    /**
     * Return what a request has to ask for beside the preset that it names.
     *
     * Null takes a property out of a preset, unless the image has it: then null
     * removes that one, and it is the image's own value that leaves it as it is.
     *
     * @param {Object} preset - {properties}
     * @param {Object} asked - all that is to be overridden: name to value
     * @param {Object} image - what the image itself has: name to value
     * @returns {Object} name to value
     */
    function beside(preset, asked, image) {
      var found = {};
      angular.forEach(asked, function (value, name) {
        if (value !== preset.properties[name]) {
          found[name] = value;
        }
      });
      Object.keys(preset.properties).forEach(function (name) {
        if (angular.isUndefined(asked[name])) {
          found[name] = angular.isDefined(image[name]) ? image[name] : null;
        }
      });
      return found;
    }

    /**
     * Return what the image itself has, with what the cloud says of it: the image
     * may have a property under a legacy name.
     *
     * @param {Object} properties - of the image, or merged: name to value
     * @param {Object} accepted - {overridden}
     * @returns {Object} name to value
     */
    function imageOf(properties, accepted) {
      var found = angular.extend({}, properties);
      angular.forEach(accepted.overridden, function (each, name) {
        if (each.image_value === null) {
          delete found[name];
        } else {
          found[name] = each.image_value;
        }
      });
      return found;
    }

    /**
     * Return whether a search finds a row: each of its words somewhere, with
     * blanks or without, as "openstack image override list" does.
     *
     * @param {Object} row
     * @param {Array} words - in lower case
     * @returns {boolean} Whether it does
     */
    function matches(row, words) {
      var choice = row.choice;
      var text = [
        nameOf(row), choice.name, choice.description, choice.purpose, choice.expects,
        row.own, valueOf(row)
      ].join(' ').replace(/\s+/g, '').toLowerCase();
      return words.every(function (word) {
        return text.indexOf(word) >= 0;
      });
    }

    /**
     * @param {Object} choice - of a family
     * @param {Array} all - rows
     * @returns {string} what distinguishes the next member: the first free
     * number, or nothing where members have no numbers
     */
    function nextMember(choice, all) {
      if (!choice.numbered) {
        return '';
      }
      var names = all.map(nameOf);
      var pattern = new RegExp(choice.name_pattern);
      for (var number = 0; number < NODES_MAX; number++) {
        var name = choice.prefix + number;
        if (pattern.test(name) && names.indexOf(name) < 0) {
          return String(number);
        }
      }
      return '';
    }
  }
})();
