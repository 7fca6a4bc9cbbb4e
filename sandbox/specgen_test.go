//go:build remote && linux

package sandbox

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/containers/podman/v5/pkg/specgen"
)

// Our description is a part of Podman's own, field for field. The real type is
// linked only here, with the build tag remote.
func TestSpecIsPodmansOwn(t *testing.T) {
	n, err := opened(hostWith("4.3.1", "", "/usr/bin/slirp4netns"))
	if err != nil {
		t.Fatal(err)
	}
	want := testSpecIn(n, Limits{}, []protectedMount{{Path: ".git"}})
	want.OCIRuntime = "runc"
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got specgen.SpecGenerator
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&got); err != nil {
		t.Fatalf("Podman does not know a field: %v", err)
	}
	if got.Name != want.Name || string(got.UserNS.NSMode) != "keep-id" || got.UserNS.Value != want.UserNS.Value ||
		string(got.NetNS.NSMode) != "slirp4netns" || len(got.NetworkOptions["slirp4netns"]) != 1 ||
		len(got.Mounts) != len(want.Mounts) || got.Mounts[0].Destination != want.Mounts[0].Destination ||
		*got.ResourceLimits.Memory.Limit != want.Resources.Memory.Limit || len(got.Rlimits) != len(want.Rlimits) ||
		got.SeccompProfilePath != want.Seccomp || !*got.ReadOnlyFilesystem || *got.ReadWriteTmpfs || *got.HTTPProxy ||
		got.Systemd != "false" || got.LogConfiguration.Driver != "k8s-file" || *got.ShmSize != want.ShmSize {
		t.Fatalf("got %+v", got)
	}
}
