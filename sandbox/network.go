package sandbox

import (
	"context"

	"github.com/blang/semver/v4"
)

// network is how a container's network is made when it was opened.
type network struct {
	mode    string // Podman's name; "none" is no network
	options []string
}

// noNetwork is the rule: loopback alone.
var noNetwork = network{mode: "none"}

// firstPasta is the first Podman that keeps the host's loopback away from what
// pasta connects.
var firstPasta = semver.MustParse("5.0.0")

// opened chooses among what the host has. The container reaches what this user
// reaches, but for the host's own loopback, and nobody reaches the container.
func opened(info hostInfo) (network, error) {
	version, err := semver.ParseTolerant(info.Version.Version)
	if err == nil && info.Host.Pasta.Executable != "" && version.GTE(firstPasta) {
		return network{mode: "pasta", options: []string{"--no-map-gw", "-t", "none", "-u", "none", "-T", "none", "-U", "none"}}, nil
	}
	if info.Host.Slirp.Executable != "" {
		return network{mode: "slirp4netns", options: []string{"allow_host_loopback=false"}}, nil
	}
	return network{}, unavailable("the network was opened for this project, and Podman has no program to give a container one",
		"install it (Debian: sudo apt-get install slirp4netns; with Podman 5: passt), or close the network again (bothy policy forget network)", nil)
}

// networkFor is none unless it was opened for the run.
func (m *Manager) networkFor(ctx context.Context, run RunSpec) (network, error) {
	if !run.Network {
		return noNetwork, nil
	}
	info, err := m.podman.host(ctx)
	if err != nil {
		return network{}, cause(ctx, failed("ask Podman what a network is made with", err))
	}
	return opened(info)
}

// connect gives the container a network. Names are resolved by what Podman
// writes; the image's own settings name no server.
func (s *containerSpec) connect(n network) {
	s.NetNS = namespace{Mode: n.mode}
	s.NetworkOptions = nil
	if n.mode != noNetwork.mode {
		s.NetworkOptions = map[string][]string{n.mode: n.options}
		s.ImageResolvConf = false
	}
}

// networkFinding says whether the network could be opened.
func networkFinding(info hostInfo) Finding {
	n, err := opened(info)
	if err != nil {
		return Finding{Name: "network", Level: LevelOK, Detail: "none, and it could not be opened for a project: neither pasta nor slirp4netns is installed"}
	}
	return Finding{Name: "network", Level: LevelOK, Detail: "none, unless a person opens it for a project (with " + n.mode + ")"}
}
