'use strict';

/*
 * The plugin's JavaScript in a browser, with Horizon's own around it, as
 * Horizon tests its own (openstack_dashboard/karma.conf.js).
 *
 * SITE_PACKAGES names the site-packages of Horizon's environment.
 */
var path = require('path');

module.exports = function (config) {
  // eslint-disable-next-line no-process-env
  var site = path.resolve(process.env.SITE_PACKAGES) + '/';
  var xstatic = site + 'xstatic/pkg/';
  var root = path.resolve(__dirname, '../../..');
  var plugin = root + '/nova_image_override_dashboard/static/';
  var preprocessors = {};

  // Modules come before what is in them.
  function sourcesOf(folder) {
    return [folder + '/**/*.module.js', folder + '/**/!(*.spec|*.mock).js'];
  }

  preprocessors[plugin + '**/*.html'] = ['ng-html2js'];
  preprocessors[plugin + '**/*.js'] = ['coverage'];

  config.set({
    basePath: root,
    frameworks: ['jasmine'],
    plugins: ['karma-*'],
    browsers: ['Headless'],
    customLaunchers: {
      Headless: {
        base: 'ChromeHeadless',
        // No sandbox for root; no looking for what a browser phones home to.
        flags: [
          '--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu',
          '--disable-background-networking'
        ]
      }
    },
    files: [path.join(__dirname, 'shim.js')].concat([
      'jquery/data/jquery.js',
      'angular/data/angular.js',
      'angular/data/angular-route.js',
      'angular/data/angular-mocks.js',
      'angular/data/angular-cookies.js',
      'angular_bootstrap/data/angular-bootstrap.js',
      'angular_gettext/data/angular-gettext.js',
      'angular_fileupload/data/ng-file-upload-all.js',
      'angular/data/angular-sanitize.js',
      'd3/data/d3.js',
      'rickshaw/data/rickshaw.js',
      'angular_smart_table/data/smart-table.js',
      'angular_lrdragndrop/data/lrdragndrop.js',
      'tv4/data/tv4.js',
      'objectpath/data/ObjectPath.js',
      'angular_schema_form/data/schema-form.js'
    ].map(function (file) {
      return xstatic + file;
    }), [
      site + 'horizon/static/horizon/js/horizon.js'
    ], sourcesOf(site + 'horizon/static/framework'),
      sourcesOf(site + 'openstack_dashboard/static/app'),
      sourcesOf(site + 'openstack_dashboard/dashboards/*/static'),
      sourcesOf(plugin + 'image_props_override'), [
        plugin + '**/*.html',
        path.join(__dirname, 'choices.js'),
        path.join(__dirname, 'outcomes.js'),
        path.join(__dirname, '*.spec.js')
      ]),
    preprocessors: preprocessors,
    ngHtml2JsPreprocessor: {
      moduleName: 'templates',
      cacheIdFromPath: function (file) {
        return file.replace(/^.*\/static\//, '/static/');
      }
    },
    reporters: ['dots', 'coverage'],
    coverageReporter: {
      reporters: [{type: 'text'}],
      check: {global: {statements: 100, branches: 100, functions: 100, lines: 100}}
    },
    client: {jasmine: {random: true}},
    singleRun: true
  });
};
