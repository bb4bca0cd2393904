"""Addresses of the panel."""

from django.urls import re_path

from nova_image_override_dashboard.admin import views

urlpatterns = [
    re_path(r'^$', views.Rules.as_view(), name='index'),
    re_path(r'^used/$', views.Used.as_view(), name='used'),
    re_path(r'^(?P<name>[^/]+)/$', views.Servers.as_view(), name='servers'),
]
