package main

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// profile is what of a server differs from the common shape of the dialect. What a
// server only tells or refuses in its own way is read and learned for all alike.
type profile struct {
	name    string
	hosts   []string // those of the service, and what is below them
	port    string   // where it listens on this machine unless told otherwise
	headers map[string]string
	shape   shape // what it takes, known before it refuses anything
	cost    bool  // it tells what a completion cost when it is asked to
	think   func(model string, level sdk.Reasoning) thought
}

// plain is the common shape, for a server that has no profile.
const plain = "plain"

// profiles are the servers that are known. Each is taken from the base URL; a server
// behind another address is named by `profile` in its block.
var profiles = []profile{
	{name: plain, think: effort},
	{name: "openai", think: effort, hosts: []string{"api.openai.com"}, shape: shape{completionTokens: true}},
	{name: "groq", think: groqEffort, hosts: []string{"groq.com"}, shape: shape{completionTokens: true}},
	{name: "openrouter", think: router, hosts: []string{"openrouter.ai"}, cost: true,
		headers: map[string]string{"HTTP-Referer": "https://github.com/bothyd/bothy", "X-Title": "Bothy"}},
	{name: "xai", think: effort, hosts: []string{"x.ai"}, shape: shape{completionTokens: true}},
	// Mistral refuses fields that it does not know, counts without being asked, and
	// takes no ids but its own kind.
	{name: "mistral", think: onOrOff, hosts: []string{"mistral.ai"}, shape: shape{noUsage: true, shortIDs: true}},
	{name: "deepseek", think: deepseekThinking, hosts: []string{"deepseek.com"}},
	{name: "vllm", think: template, port: "8000"},
	{name: "llamacpp", think: template, port: "8080"},
	{name: "lmstudio", think: effort, port: "1234"},
}

// profileOf is the profile of a server by its name, else by its base URL.
func profileOf(name string, base *url.URL) (profile, error) {
	if name == "" {
		return profileAt(base), nil
	}
	i := slices.IndexFunc(profiles, func(p profile) bool { return p.name == name })
	if i < 0 {
		var names []string
		for _, p := range profiles {
			names = append(names, p.name)
		}
		return profile{}, fmt.Errorf("profile is %q: write one of %s, or leave it out where the base URL tells", name, strings.Join(names, ", "))
	}
	return profiles[i], nil
}

func profileAt(base *url.URL) profile {
	host := strings.ToLower(base.Hostname())
	local := host == "localhost" || net.ParseIP(host).IsLoopback()
	for _, p := range profiles {
		for _, h := range p.hosts {
			if host == h || strings.HasSuffix(host, "."+h) {
				return p
			}
		}
		if local && p.port != "" && cmp.Or(base.Port(), "80") == p.port {
			return p
		}
	}
	return profiles[0]
}

// withHeaders are a block's headers, and those of the profile that it does not set.
func (p profile) withHeaders(set map[string]string) map[string]string {
	out := map[string]string{}
	for name, value := range p.headers {
		out[name] = value
	}
	for name, value := range set {
		for known := range p.headers {
			if strings.EqualFold(name, known) {
				delete(out, known)
			}
		}
		out[name] = value
	}
	return out
}
