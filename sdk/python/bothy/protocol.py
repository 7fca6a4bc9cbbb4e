"""The messages and services of the plugin protocol, made of protocol.binpb.

The file is bothy.proto as its compiler reads it, so that no generated code is needed,
whose versions of protobuf would have to fit.
"""

import pkgutil

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

VERSION = 1
LARGEST = 16 << 20  # bytes of one message, in either direction
SIZES = [("grpc.max_receive_message_length", LARGEST), ("grpc.max_send_message_length", LARGEST)]

_text = pkgutil.get_data(__package__, "protocol.binpb")
_file = descriptor_pb2.FileDescriptorProto.FromString(_text)
_pool = descriptor_pool.DescriptorPool()
_pool.AddSerializedFile(_text)


def message(name):
    """The class of a message, such as InvokeRequest."""
    described = _pool.FindMessageTypeByName(name if "." in name else f"bothy.v1.{name}")
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(described)
    return message_factory.MessageFactory(_pool).GetPrototype(described)


def methods(service):
    """The methods of a service: (name, request, response, whether answers stream)."""
    for s in _file.service:
        if s.name == service:
            for m in s.method:
                yield m.name, message(m.input_type[1:]), message(m.output_type[1:]), m.server_streaming


# The messages that the other modules make.
CallResponse = message("CallResponse")
Chunk = message("Chunk")
Failure = message("Failure")
InvokeResponse = message("InvokeResponse")
Progress = message("Progress")
ToolResult = message("ToolResult")
