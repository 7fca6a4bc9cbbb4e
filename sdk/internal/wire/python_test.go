package wire

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"

	"github.com/bothyd/bothy/sdk/internal/pb"
)

var update = flag.Bool("update", false, "write the file anew")

// TestPythonHasTheProtocol: the package in Python makes its messages of the protocol
// as it is now.
func TestPythonHasTheProtocol(t *testing.T) {
	const file = "../../python/bothy/protocol.binpb"
	want, err := proto.MarshalOptions{Deterministic: true}.Marshal(protodesc.ToFileDescriptorProto(pb.File_v1_bothy_proto))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what bothy.proto says (%v); go test -update writes it anew", file, err)
	}
}
