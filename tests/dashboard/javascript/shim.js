'use strict';

/*
 * What Django's catalogue and Horizon's pages say, before anything else is
 * loaded: texts are their own translation.
 */
var STATIC_URL = '/static/';
var WEBROOT = '/';
var horizonPlugInModules = [];

function gettext(text) {
  return text;
}

function ngettext(singular, plural, count) {
  return count === 1 ? singular : plural;
}

function pgettext(context, text) {
  return text;
}

function npgettext(context, singular, plural, count) {
  return ngettext(singular, plural, count);
}

function interpolate(text, values, named) {
  return text.replace(named ? /%\((\w+)\)s/g : /%s/g, function (match, name) {
    return named ? values[name] : values.shift();
  });
}
