package sandbox

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func hostWith(version, pasta, slirp string) hostInfo {
	var info hostInfo
	info.Version.Version = version
	info.Host.Pasta.Executable, info.Host.Slirp.Executable = pasta, slirp
	return info
}

func TestOpenedNetworkIsWhatPodmanHas(t *testing.T) {
	for name, c := range map[string]struct {
		info hostInfo
		mode string
	}{
		"both":                   {hostWith("5.4.0", "/usr/bin/pasta", "/usr/bin/slirp4netns"), "pasta"},
		"pasta alone":            {hostWith("5.0.0", "/usr/bin/pasta", ""), "pasta"},
		"a Podman before pasta":  {hostWith("4.3.1", "", "/usr/bin/slirp4netns"), "slirp4netns"},
		"one that knew it badly": {hostWith("4.9.3", "/usr/bin/pasta", "/usr/bin/slirp4netns"), "slirp4netns"},
		"no program":             {hostWith("5.4.0", "", ""), ""},
		"none that will do":      {hostWith("4.9.3", "/usr/bin/pasta", ""), ""},
	} {
		n, err := opened(c.info)
		if n.mode != c.mode || (err == nil) != (c.mode != "") {
			t.Errorf("%s: got %+v %v", name, n, err)
		}
		if err != nil && (Code(err) != CodeUnavailable || !strings.Contains(err.Error(), "install")) {
			t.Errorf("%s: it does not say what to do: %v", name, err)
		}
		if f := networkFinding(c.info); f.Level != LevelOK || err == nil && !strings.Contains(f.Detail, n.mode) {
			t.Errorf("%s: doctor says %+v", name, f)
		}
	}
}

// The host's own loopback stays out of reach, and nobody reaches the container.
func TestOpenedNetworkIsOneWay(t *testing.T) {
	pasta, err := opened(hostWith("5.0.0", "/p", ""))
	if err != nil || !slices.Contains(pasta.options, "--no-map-gw") {
		t.Errorf("pasta: %+v %v", pasta, err)
	}
	for _, ports := range []string{"-t", "-u", "-T", "-U"} {
		if i := slices.Index(pasta.options, ports); i < 0 || pasta.options[i+1] != "none" {
			t.Errorf("pasta forwards %s: %v", ports, pasta.options)
		}
	}
	if len(pasta.options) != 9 {
		t.Errorf("pasta is told more than what keeps the loopback and the ports closed: %v", pasta.options)
	}
	slirp, err := opened(hostWith("4.3.1", "", "/s"))
	if err != nil || !reflect.DeepEqual(slirp.options, []string{"allow_host_loopback=false"}) {
		t.Errorf("slirp4netns: %+v %v", slirp, err)
	}
	var closed, open containerSpec
	closed.connect(noNetwork)
	open.ImageResolvConf = true
	open.connect(slirp)
	if closed.NetNS.Mode != "none" || closed.NetworkOptions != nil || open.ImageResolvConf || len(open.NetworkOptions) != 1 {
		t.Errorf("got %+v and %+v", closed, open)
	}
}
