package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk/protect"
)

// resolve says where an operand leads when it is written to: its absolute and
// clean path, and whether that is provably below the workspace and nothing that
// is protected. It is lexical: links are the container's to stop. "-" stands
// for a standard stream and is returned as it is.
func (p Place) resolve(operand string) (abs string, inside bool) {
	abs, _ = p.resolveRead(operand)
	if operand == "-" || !p.holds(abs) {
		return abs, operand == "-"
	}
	below := strings.TrimPrefix(strings.TrimPrefix(abs, p.Workspace), "/")
	return abs, below != "" && !isProtected(below)
}

// resolveRead is resolve for what is only read: the workspace itself, what is
// protected in it and the folders that can only be read are inside.
func (p Place) resolveRead(operand string) (abs string, inside bool) {
	switch {
	case operand == "-":
		return operand, true
	case strings.HasPrefix(operand, "~"):
		abs = p.tilde(operand)
	case path.IsAbs(operand):
		abs = path.Clean(operand)
	default:
		abs = path.Join(p.Dir, operand)
	}
	return abs, p.holds(abs) || p.readable(abs)
}

// in is the same place for a command that starts elsewhere.
func (p Place) in(dir string) Place {
	p.Dir = dir
	return p
}

// tilde takes every leading tilde for one that the shell expands: whether it
// was quoted can no longer be seen. Another user's home, and the directories
// that ~+ and ~- name, are nowhere that is known.
func (p Place) tilde(operand string) string {
	first, rest, _ := strings.Cut(operand, "/")
	if first != "~" {
		return path.Join("/home", first, rest)
	}
	return path.Join(p.Home, rest)
}

// holds reports whether an absolute, clean path is the workspace or below it.
func (p Place) holds(abs string) bool {
	if !path.IsAbs(p.Workspace) {
		return false
	}
	return abs == p.Workspace || strings.HasPrefix(abs, strings.TrimSuffix(p.Workspace, "/")+"/")
}

// readable reports whether an absolute, clean path is a folder that can only be
// read, or below one.
func (p Place) readable(abs string) bool {
	return slices.ContainsFunc(p.ReadOnly, func(dir string) bool { return abs == dir || strings.HasPrefix(abs, dir+"/") })
}

// isProtected says whether a path below the workspace is protected. What holds a
// protected path is so as well: moving it moves that. So is a whole repository,
// which lies anywhere.
func isProtected(below string) bool {
	return protect.Judge(below, protect.Paths()).Reason != "" ||
		slices.ContainsFunc(strings.Split(below, "/"), func(name string) bool { return protect.Alike(name, ".git") })
}

// secretNames are the names, of a file or of a folder, behind which credentials
// lie wherever they are.
var secretNames = []string{
	".env", ".envrc", ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".netrc", ".pgpass", ".pypirc",
	".git-credentials", ".vault-token", ".password-store", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519",
	"id_ecdsa_sk", "id_ed25519_sk", "shadow", "gshadow", "credentials.json", "key.pem", "privkey.pem", "keyrings",
}

// secretPaths are the longer ones, as a path ends or goes on.
var secretPaths = []string{
	"/.config/gh/", "/.config/gcloud/", "/.docker/config.json", "/.cargo/credentials", "/run/secrets/",
	"/etc/sudoers", "/etc/ssl/private/", "/etc/ssh/ssh_host_", "/.bash_history", "/.mysql_history",
}

// plainEnvs are how an .env file ends that is there to be read by everybody.
var plainEnvs = []string{".example", ".sample", ".template", ".dist"}

// secret reports whether an absolute path leads to credentials, which nothing
// reads unasked, wherever they lie.
func secret(abs string) bool {
	abs = strings.ToLower(abs)
	if secretProc(abs) {
		return true
	}
	for part := range strings.SplitSeq(abs, "/") {
		if secretName(part) {
			return true
		}
	}
	return slices.ContainsFunc(secretPaths, func(name string) bool { return strings.Contains(abs+"/", name) })
}

// secretName looks behind a colon, too: HEAD:.env is a file of a commit.
func secretName(name string) bool {
	name = name[strings.LastIndexByte(name, ':')+1:]
	if strings.HasPrefix(name, ".env.") {
		return !slices.ContainsFunc(plainEnvs, func(end string) bool { return strings.HasSuffix(name, end) })
	}
	return slices.Contains(secretNames, name) || strings.HasSuffix(name, ".key") || strings.HasSuffix(name, "_key.pem") ||
		strings.HasSuffix(name, "-key.pem") || strings.HasSuffix(name, ".env") || strings.HasSuffix(name, ".p12") ||
		strings.HasSuffix(name, ".pfx")
}

// secretProc reports whether a path is what the kernel shows of a process's
// environment, memory or open files, or of the machine's memory.
func secretProc(abs string) bool {
	if abs == "/dev/mem" || abs == "/dev/kmem" {
		return true
	}
	rest, found := strings.CutPrefix(abs, "/proc/")
	if !found {
		return false
	}
	last := path.Base(rest)
	return last == "environ" || last == "mem" || last == "kcore" || last == "auxv"
}
