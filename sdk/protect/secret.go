package protect

import (
	"path"
	"slices"
	"strings"
)

// secretNames are the names, of a file or of a folder, behind which credentials
// lie wherever they are.
var secretNames = []string{
	".env", ".envrc", ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".netrc", ".pgpass", ".pypirc",
	".git-credentials", ".vault-token", ".password-store", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519",
	"id_ecdsa_sk", "id_ed25519_sk", "shadow", "gshadow", "credentials.json", "key.pem", "privkey.pem", "keyrings",
}

// secretEnds are how other names of files end that hold them.
var secretEnds = []string{".key", "_key.pem", "-key.pem", ".env", ".p12", ".pfx"}

// secretPaths are the longer ones, as a path ends or goes on.
var secretPaths = []string{
	"/.config/gh/", "/.config/gcloud/", "/.docker/config.json", "/.cargo/credentials", "/run/secrets/",
	"/etc/sudoers", "/etc/ssl/private/", "/etc/ssh/ssh_host_", "/.bash_history", "/.mysql_history",
}

// plainEnvs are how an .env file ends that is there to be read by everybody.
var plainEnvs = []string{".example", ".sample", ".template", ".dist"}

// Secret says whether a path, in a project or anywhere, leads to credentials, by
// its name: nothing reads those unasked. A commit before a colon is passed over,
// so that HEAD:.env is one.
func Secret(at string) bool {
	at = strings.ToLower(at)
	for part := range strings.SplitSeq(at, "/") {
		if secretName(part[strings.LastIndexByte(part, ':')+1:]) {
			return true
		}
	}
	return slices.ContainsFunc(secretPaths, func(name string) bool { return strings.Contains("/"+at+"/", name) })
}

func secretName(name string) bool {
	if strings.HasPrefix(name, ".env.") {
		return !slices.ContainsFunc(plainEnvs, func(end string) bool { return strings.HasSuffix(name, end) })
	}
	return slices.Contains(secretNames, name) || slices.ContainsFunc(secretEnds, func(end string) bool { return strings.HasSuffix(name, end) })
}

// SecretPattern says whether a pattern of one name is made for names that Secret
// knows: ".e*" is, and "*" is not.
func SecretPattern(pattern string) bool {
	pattern = strings.ToLower(pattern)
	prefix := pattern
	if at := strings.IndexAny(pattern, `*?[{`); at >= 0 {
		prefix = pattern[:at]
	}
	if len(prefix) > 1 {
		for _, name := range secretNames {
			if strings.HasPrefix(name, prefix) && (name[0] == '.' || strings.HasPrefix(name, "id_")) {
				return true
			}
		}
	}
	return secretName(pattern)
}

// SecretMatch says whether a pattern of one name fits a name that Secret knows,
// made for it or not: "*" does, and "*.go" does not. Whether it fits a name that
// begins with a dot is for the caller to say; a shell's does not.
func SecretMatch(pattern string, dots bool) bool {
	pattern = strings.ToLower(pattern)
	if !strings.ContainsAny(pattern, `*?[{\`) {
		return secretName(pattern)
	}
	for _, name := range secretNames {
		if ok, err := path.Match(pattern, name); (ok || err != nil) && (dots || name[0] != '.' || pattern[0] == '.') {
			return true
		}
	}
	tail := pattern[strings.LastIndexAny(pattern, `*?]}`)+1:]
	return slices.ContainsFunc(secretEnds, func(end string) bool { return strings.HasSuffix(end, tail) || strings.HasSuffix(tail, end) })
}
