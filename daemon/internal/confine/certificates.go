package confine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// systemCertificates is where a TLS client of most systems finds those it trusts. Only the
// system's administrator writes there.
const systemCertificates = "/etc/ssl/certs"

// Certificates are where the environment says that a TLS client finds those it trusts, what
// the block sets before what the daemon has, and what those of the system lead to.
func Certificates(env map[string]string) (found []string) {
	value := func(name string) string {
		if v, set := env[name]; set {
			return v
		}
		return os.Getenv(name)
	}
	for _, path := range slices.Concat(filepath.SplitList(value("SSL_CERT_DIR")), []string{value("SSL_CERT_FILE")}, linked(systemCertificates)) {
		if _, err := os.Stat(path); err == nil && filepath.IsAbs(path) {
			found = append(found, path)
		}
	}
	return found
}

// linked is what the links of a folder lead to outside of it and of /usr, which every plugin
// has: on NixOS what is below /etc/static. The plugin may not write the folder: it would
// choose what it reads.
func linked(folder string) (targets []string) {
	entries, _ := os.ReadDir(folder) // not there, or no folder
	for _, e := range entries {
		target, err := os.Readlink(filepath.Join(folder, e.Name()))
		if err != nil {
			continue
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(folder, target)
		}
		if filepath.Dir(target) != filepath.Clean(folder) && !strings.HasPrefix(target, "/usr/") {
			targets = append(targets, target)
		}
	}
	return targets
}
