"""The WSDL of vSphere's API, which every vCenter has and a simulator lacks.

oslo.vmware has the schemas of the types, pyVmomi the methods: of those this
writes the ones that Nova's driver can call.
"""

import collections.abc
import pathlib
import re
import shutil
import typing

from nova.virt import vmwareapi
import oslo_vmware
from pyVmomi import VmomiSupport

#: The release of the API.
RELEASE = '7.0'

_NAMESPACE, _PREFIX = 'urn:vim25', 'vim25'
#: VmomiSupport's flag for a parameter that may be left out.
_OPTIONAL = VmomiSupport.F_OPTIONAL

_TYPES = ('core-types.xsd', 'query-types.xsd', 'reflect-types.xsd',
          'vim-types.xsd')

_SERVICE = '''<definitions xmlns="http://schemas.xmlsoap.org/wsdl/"
  xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/"
  xmlns:vim25="urn:vim25" targetNamespace="urn:vim25Service">
<import location="vim.wsdl" namespace="urn:vim25"/>
<service name="VimService"><port binding="vim25:VimBinding" name="VimPort">
<soap:address location="https://localhost/sdk"/></port></service>
</definitions>
'''

_BINDING = '''<definitions xmlns="http://schemas.xmlsoap.org/wsdl/"
  xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/"
  xmlns:vim25="urn:vim25" targetNamespace="urn:vim25">
<types><schema xmlns="http://www.w3.org/2001/XMLSchema"
  xmlns:vim25="urn:vim25" xmlns:xsd="http://www.w3.org/2001/XMLSchema"
  targetNamespace="urn:vim25" elementFormDefault="qualified">
<include schemaLocation="vim-types.xsd"/>
{elements}</schema></types>
{messages}<portType name="VimPortType">
{operations}</portType>
<binding name="VimBinding" type="vim25:VimPortType">
<soap:binding style="document"
  transport="http://schemas.xmlsoap.org/soap/http"/>
{bindings}</binding>
</definitions>
'''

_ELEMENTS = '''<element name="{name}"><complexType><sequence>
{asked}</sequence></complexType></element>
<element name="{name}Response"><complexType><sequence>
{answered}</sequence></complexType></element>
'''

_MESSAGES = '''<message name="{name}RequestMsg">
<part name="parameters" element="vim25:{name}"/></message>
<message name="{name}ResponseMsg">
<part name="parameters" element="vim25:{name}Response"/></message>
'''

_OPERATION = '''<operation name="{name}">
<input message="vim25:{name}RequestMsg"/>
<output message="vim25:{name}ResponseMsg"/></operation>
'''

_BOUND = '''<operation name="{name}">
<soap:operation soapAction="urn:vim25/7.0" style="document"/>
<input><soap:body use="literal"/></input>
<output><soap:body use="literal"/></output></operation>
'''


def write(folder: pathlib.Path) -> None:
    """Write ``vimService.wsdl``, and what it refers to, into FOLDER."""
    schemas = pathlib.Path(oslo_vmware.__file__).parent / 'wsdl' / RELEASE
    known: set[str] = set()
    for name in _TYPES:
        shutil.copy(schemas / name, folder)
        known.update(re.findall(
            r'Type\s+name="(\w+)"', (schemas / name).read_text()))
    # pyVmomi has those of newer releases, too.
    methods = [method for method in _methods()
               if known.issuperset(_types_of(method))]
    (folder / 'vimService.wsdl').write_text(_SERVICE)
    (folder / 'vim.wsdl').write_text(_BINDING.format(
        elements=''.join(_elements(method) for method in methods),
        **{kind: ''.join(template.format(name=method.wsdlName)
                         for method in methods)
           for kind, template in (('messages', _MESSAGES),
                                  ('operations', _OPERATION),
                                  ('bindings', _BOUND))}))


def _methods() -> collections.abc.Iterator[typing.Any]:
    """Yield the methods that the sources of the driver name.

    It calls them as attributes, or has their names in quotes.
    """
    words: set[str] = set()
    for package in (vmwareapi, oslo_vmware):
        for source in pathlib.Path(package.__file__).parent.rglob('*.py'):
            words.update(re.findall(
                r"""['".]([A-Z]\w+)""", source.read_text()))
    for word in sorted(words):
        try:
            method = VmomiSupport.GetWsdlMethod(_NAMESPACE, word)
        except KeyError:
            continue
        yield method.info


def _types_of(method: typing.Any) -> collections.abc.Iterator[str]:
    """Yield the names of those parameter types that belong to the API."""
    return (name for parameter in method.params
            for prefix, name in [_name(_one(parameter.type))]
            if prefix == _PREFIX)


def _elements(method: typing.Any) -> str:
    asked = '<element name="_this" type="vim25:ManagedObjectReference"/>\n'
    for parameter in method.params:
        asked += _element(parameter.name, parameter.type, parameter.flags)
    returned = method.methodResult if not method.isTask \
        else VmomiSupport.ManagedObject
    answered = '' if returned is type(None) else _element(
        'returnval', returned, method.resultFlags)
    return _ELEMENTS.format(
        name=method.wsdlName, asked=asked, answered=answered)


def _element(name: str, kind: typing.Any, flags: int) -> str:
    many = issubclass(kind, list)
    return (f'<element name="{name}" type="{":".join(_name(_one(kind)))}"'
            + ' minOccurs="0"' * bool(flags & _OPTIONAL or many)
            + ' maxOccurs="unbounded"' * many + '/>\n')


def _one(kind: typing.Any) -> typing.Any:
    return kind.Item if issubclass(kind, list) else kind


def _name(kind: typing.Any) -> tuple[str, str]:
    """Return prefix and name of a type, as the WSDL refers to it."""
    if issubclass(kind, VmomiSupport.ManagedObject):
        return _PREFIX, 'ManagedObjectReference'
    namespace, name = VmomiSupport.GetQualifiedWsdlName(kind)
    return _PREFIX if namespace == _NAMESPACE else 'xsd', name
