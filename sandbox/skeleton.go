package sandbox

import (
	"archive/tar"
	"bytes"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// skeletonName is the repository of the images that [skeleton] makes; the tag
// is the hash of their content.
const skeletonName = "localhost/bothy-skeleton"

// hostDirs are the host's directories that are a distribution's merged /usr, or
// stand beside it where they are not merged.
var hostDirs = []string{"bin", "sbin", "lib", "lib32", "lib64", "libx32"}

// hostFiles are read-only mounts that make the host's programs work: loader
// cache, alternatives, certificates, and configuration that is world-readable
// and names no user. What the host lacks is left out.
var hostFiles = []string{
	"/etc/alternatives", "/etc/ld.so.cache", "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/pki",
	"/etc/crypto-policies", "/etc/ca-certificates", "/etc/services", "/etc/protocols", "/etc/mime.types",
}

// skeletonFiles are the image's own files. Nothing in them is of the host.
var skeletonFiles = map[string]string{
	"etc/passwd":        "root:x:0:0:root:/:/usr/sbin/nologin\nbothy:x:1000:1000:bothy:" + Home + ":/bin/bash\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n",
	"etc/group":         "root:x:0:\nbothy:x:1000:\nnogroup:x:65534:\n",
	"etc/hosts":         "127.0.0.1 localhost bothy\n::1 localhost bothy\n",
	"etc/hostname":      "bothy\n",
	"etc/resolv.conf":   "",
	"etc/gitconfig":     "", // what commands of a run with a project have there is mounted
	"etc/nsswitch.conf": "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nservices: files\nprotocols: files\n",
	"opt/bothy/runner":  "",
}

// skeletonDirs are mount points and what a program expects to exist.
var skeletonDirs = []string{
	"dev", "etc", "home", "home/bothy", "opt", "opt/bothy", "proc", "root", "run", "run/bothy", "skills",
	"sys", "tmp", "usr", "var", "var/tmp", "workspace",
}

// skeleton is an image of mount points and a few files in /etc, as a tar
// stream, with the host mounts that make it a system.
type skeleton struct {
	tar    []byte
	tag    string
	mounts []mount
}

// makeSkeleton builds the image for the file tree at root, which is "/" but in
// tests. The same host gives the same bytes, so the tag says whether the image
// is already there.
func makeSkeleton(root string) (*skeleton, error) {
	s := &skeleton{mounts: []mount{readOnly(filepath.Join(root, "usr"), "/usr")}}
	var buf bytes.Buffer
	w := &skeletonWriter{tar: tar.NewWriter(&buf), made: make(map[string]bool)}
	w.dir(".")
	for _, dir := range skeletonDirs {
		w.dir(dir)
	}
	for _, name := range slices.Sorted(maps.Keys(skeletonFiles)) {
		w.file(name, skeletonFiles[name])
	}
	w.link("etc/mtab", "/proc/mounts")
	for _, name := range hostDirs {
		path := filepath.Join(root, name)
		if target, err := os.Readlink(path); err == nil {
			w.link(name, target)
		} else if info, err := os.Stat(path); err == nil && info.IsDir() {
			w.dir(name)
			s.mounts = append(s.mounts, readOnly(path, "/"+name))
		}
	}
	for _, name := range hostPaths(root) {
		path := filepath.Join(root, name)
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		if info.IsDir() {
			w.dir(name[1:])
		} else {
			w.file(name[1:], "")
		}
		s.mounts = append(s.mounts, readOnly(path, name))
	}
	if w.err == nil {
		w.err = w.tar.Close()
	}
	s.tar, s.tag = buf.Bytes(), skeletonName+":"+hashBytes(buf.Bytes())
	return s, w.err
}

// hostPaths is hostFiles and the configuration of Java, whose files below /usr
// are links to it on Debian.
func hostPaths(root string) []string {
	paths := append([]string(nil), hostFiles...)
	java, _ := filepath.Glob(filepath.Join(root, "etc/java-*"))
	for _, path := range java {
		paths = append(paths, filepath.Join("/etc", filepath.Base(path)))
	}
	return paths
}

// skeletonWriter writes entries once each, parents first, owned by root.
type skeletonWriter struct {
	tar  *tar.Writer
	made map[string]bool
	err  error
}

func (w *skeletonWriter) dir(name string) {
	if name != "." {
		if parent := filepath.Dir(name); parent != "." {
			w.dir(parent)
		}
	}
	mode := int64(0o755)
	if name == "tmp" || name == "var/tmp" {
		mode = 0o1777
	}
	w.add(tar.Header{Name: name + "/", Typeflag: tar.TypeDir, Mode: mode}, "")
}

func (w *skeletonWriter) file(name, content string) {
	w.dir(filepath.Dir(name))
	mode := int64(0o644)
	if name == "opt/bothy/runner" {
		mode = 0o755
	}
	w.add(tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: mode, Size: int64(len(content))}, content)
}

func (w *skeletonWriter) link(name, target string) {
	w.add(tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: target, Mode: 0o777}, "")
}

func (w *skeletonWriter) add(h tar.Header, content string) {
	if w.err != nil || w.made[h.Name] {
		return
	}
	w.made[h.Name] = true
	h.ModTime = time.Unix(0, 0)
	h.Format = tar.FormatUSTAR
	if w.err = w.tar.WriteHeader(&h); w.err == nil {
		_, w.err = io.WriteString(w.tar, content)
	}
}
