//go:build linux

package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
)

func TestAViewShowsTheProjectAndKeepsWhatChanges(t *testing.T) {
	f := newViewFixture(t, sharedViewer(t), "echo one >a; mkdir d; echo two >d/b; chmod 0711 .")
	before := tree(t, f.spec.Project)
	if err := f.v.mount(t.Context(), f.spec); err != nil {
		t.Fatal(err)
	}
	since, err := laterThan(f.spec.Dir)
	if err != nil {
		t.Fatal(err)
	}
	out, err := inNamespaces(t, f.spec.Slot, `stat -c %a .; cat a d/b; echo new >a; grep " $PWD " /proc/self/mountinfo | tail -1`)
	if err != nil || !strings.HasPrefix(out, "711\none\ntwo\n") {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, option := range []string{"nosuid", "nodev", "volatile", "userxattr", "bothy-view", "shared:"} {
		if !strings.Contains(out, option) {
			t.Errorf("the mount lacks %s: %s", option, out)
		}
	}
	if strings.Contains(out, f.spec.Project) {
		t.Errorf("the mount tells where the project is: %s", out)
	}
	if got := tree(t, f.spec.Project); !reflect.DeepEqual(got, before) {
		t.Errorf("the project has changed: %v", got)
	}
	left, err := f.v.leftovers(t.Context(), f.top)
	if err != nil || !reflect.DeepEqual(left, []string{f.spec.Slot}) {
		t.Errorf("leftovers: %q %v", left, err)
	}
	for range 2 { // a second time there is nothing to do
		if err := f.v.unmount(t.Context(), f.spec.Slot, false); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := inNamespaces(t, f.spec.Slot, "ls -A"); err != nil || out != "" {
		t.Errorf("the slot is not empty: %q %v", out, err)
	}
	changes := f.list()
	if len(changes) != 1 || changes[0].Path != "a" || !changes[0].Copied || changes[0].Was.Changed.After(since) {
		t.Errorf("got %+v", changes)
	}
	if data, err := f.v.read(t.Context(), f.spec, "a", 4); err != nil || string(data) != "new\n" {
		t.Errorf("%q %v", data, err)
	}
	if _, err := f.v.read(t.Context(), f.spec, "a", 3); !errors.Is(err, errViewLarge) {
		t.Errorf("got %v", err)
	}
	if err := errors.Join(f.v.sync(t.Context(), f.spec, []string{"a", "gone"}), f.v.sync(t.Context(), f.spec, nil)); err != nil {
		t.Error(err)
	}
	if err := f.v.mount(t.Context(), f.spec); err == nil {
		t.Error("a view was made of the same folder twice")
	}
	if err := errors.Join(f.v.remove(t.Context(), f.spec.Dir), f.v.remove(t.Context(), f.spec.Dir)); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(f.spec.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

func TestAListTellsWhatACommandDid(t *testing.T) {
	for name, c := range viewScripts {
		t.Run(name, func(t *testing.T) {
			f := newViewFixture(t, sharedViewer(t), viewProject)
			f.command(c.script)
			var got []string
			for _, change := range f.list() {
				got = append(got, tell(change))
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// viewProject makes a project, viewScripts are what commands may do to it, and
// what is listed then.
const viewProject = `
mkdir -p keep/deep gone/deep new mode closed swap/in; echo x | tee keep/f gone/f gone/deep/f swap/f mode/f closed/f file1 file2 file3 twin1 >/dev/null
ln -s file1 link; ln twin1 twin2; printf x >$'odd\xff\n'; chmod 0751 mode`

var viewScripts = map[string]struct {
	script string
	want   []string
}{
	"nothing":                  {"true", nil},
	"reading":                  {"cat */f file1; ls -R . >/dev/null", nil},
	"a new file":               {"echo x >keep/deep/n", []string{"keep/deep/n: nothing -> file"}},
	"a changed file":           {"echo y >>keep/f", []string{"keep/f: file -> file copied"}},
	"a replaced file":          {"echo y >t; mv t file1", []string{"file1: file -> file"}},
	"a mode":                   {"chmod 600 file1", []string{"file1: file -> file mode 644 -> 600 copied"}},
	"a removed file":           {"rm file1", []string{"file1: file -> nothing"}},
	"a removed folder":         {"rm -r gone", []string{"gone: directory -> nothing"}},
	"an exchanged folder":      {"rm -r gone; mkdir -p gone/deep; echo y >gone/f", []string{"gone: directory -> directory whole", "gone/deep: directory -> directory whole", "gone/f: file -> file"}},
	"a new folder":             {"mkdir -p n/m; echo x >n/m/f; ln -s f n/l", []string{"n: nothing -> directory whole", "n/l: nothing -> link", "n/m: nothing -> directory whole", "n/m/f: nothing -> file"}},
	"a folder's mode":          {"chmod 700 mode", []string{"mode: directory -> directory mode 751 -> 700 copied"}},
	"a folder's mode and more": {"rm mode/f; chmod 0 mode", []string{"mode: directory -> directory mode 751 -> 0 copied", "mode/f: file -> nothing"}},
	"a closed folder":          {"echo y >closed/f; chmod 555 closed", []string{"closed: directory -> directory mode 755 -> 555 copied", "closed/f: file -> file copied"}},
	"the project's own mode":   {"chmod 700 .", []string{".: directory -> directory mode 755 -> 700"}},
	"a file for a folder":      {"rm -r swap; echo x >swap", []string{"swap: directory -> file"}},
	"a folder for a file":      {"rm file1; mkdir file1; echo x >file1/f", []string{"file1: file -> directory whole", "file1/f: nothing -> file"}},
	"a link for a file":        {"ln -sf /etc/passwd file1", []string{"file1: file -> link"}},
	"a link elsewhere":         {"ln -sfn file2 link", []string{"link: link -> link"}},
	"one of two names":         {"echo y >>twin1", []string{"twin1: file -> file"}},
	"an odd name":              {`echo y >$'odd\xff\n'`, []string{"odd\xff\n: file -> file copied"}},
	"what is no file":          {"mkfifo keep/p; echo x >keep/q", []string{"keep/p: nothing -> other", "keep/q: nothing -> file"}},
	"made and removed":         {"echo x >n; rm n; mkdir m; rmdir m", nil},
	"a closed new folder":      {"mkdir -p n/m; echo x >n/m/f; chmod 0 n/m; chmod 555 n", []string{"n: nothing -> directory whole", "n/m: nothing -> directory whole", "n/m/f: nothing -> file"}},
	"a renamed file":           {"mv file1 keep/file1", []string{"file1: file -> nothing", "keep/file1: nothing -> file copied"}},
}

func TestAListWeighsWhatGoes(t *testing.T) {
	f := newViewFixture(t, sharedViewer(t), "mkdir -p d/e; printf 12345 >d/e/f; printf 123 >d/g")
	f.command("rm -r d")
	f.host("sleep 0.02; printf 123456 >d/e/f")
	info, err := os.Lstat(filepath.Join(f.spec.Project, "d/e/f"))
	if err != nil {
		t.Fatal(err)
	}
	newest := info.Sys().(*syscall.Stat_t).Ctim
	c := f.list()[0]
	if c.Files != 3 || c.Bytes != 9 || c.Newest.UnixNano() != newest.Nano() {
		t.Errorf("got %+v", c)
	}
}

func TestWhatIsMarked(t *testing.T) {
	f := newViewFixture(t, sharedViewer(t), "echo x >f; echo x >g")
	f.command("echo y >>f; echo x >plain; cp /bin/true suid; chmod 4755 suid; mkdir d; mkfifo p; setfattr -n user.mine -v x plain || true")
	want := map[string]bool{"f": true, "plain": false, "suid": true, "d": false, "p": true}
	for _, c := range f.list() {
		if c.Marked != want[c.Path] {
			t.Errorf("%s: marked is %v", c.Path, c.Marked)
		}
	}
}

func TestAListHasBounds(t *testing.T) {
	f := newViewFixture(t, sharedViewer(t), "true")
	f.command("touch $(seq 1 50)")
	if changes, err := f.v.list(t.Context(), f.spec, 50); err != nil || len(changes) != 50 {
		t.Errorf("%d changes, %v", len(changes), err)
	}
	if _, err := f.v.list(t.Context(), f.spec, 49); !errors.Is(err, errViewLarge) || !strings.Contains(err.Error(), "more than 49 paths") {
		t.Errorf("got %v", err)
	}
	f.next()
	f.command(`n=$(printf %0200d 0); for i in $(seq 30); do mkdir $n; cd $n; done; touch f`)
	if _, err := f.v.list(t.Context(), f.spec, 50); !errors.Is(err, errViewLarge) || !strings.Contains(err.Error(), "longer than 4095 bytes") {
		t.Errorf("got %v", err)
	}
	f.next()
	f.command(`p=$(printf 'd/%.0s' $(seq 700)); mkdir -p $p; touch ${p}f; chmod 0 $p`)
	if changes := f.list(); len(changes) != 701 {
		t.Errorf("%d changes", len(changes))
	}
	if err := f.v.remove(t.Context(), filepath.Join(f.top, "views")); err != nil {
		t.Error(err)
	}
}

func TestHeldChangesAreSeen(t *testing.T) {
	f := newViewFixture(t, sharedViewer(t), "echo one >a; echo one >b; mkdir d; echo one >d/f")
	f.command("echo two >a; rm b; rm -r d; mkdir d; echo two >d/g; echo two >n")
	f.spec.Held = filepath.Join(f.spec.Dir, "u")
	f.next()
	f.command(`test "$(cat a n d/g)" = $'two\ntwo\ntwo'; test ! -e b; test ! -e d/f; echo three >a; rm n`)
	var got []string
	for _, c := range f.list() {
		got = append(got, tell(c))
	}
	if want := []string{"a: file -> file copied", "n: nothing -> nothing"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWhatNoViewCanBeMadeOf(t *testing.T) {
	f := newViewFixture(t, sharedViewer(t), "mkdir -p sub/in")
	other := f.spec
	other.Inode++
	if err := f.v.mount(t.Context(), other); Code(err) != CodeSwapped {
		t.Errorf("another folder: %v", err)
	}
	link := f.spec
	link.Project = filepath.Join(f.top, "link")
	if err := os.Symlink(f.spec.Project, link.Project); err != nil {
		t.Fatal(err)
	}
	if err := f.v.mount(t.Context(), link); Code(err) != CodeSwapped {
		t.Errorf("a link: %v", err)
	}
	within := f.spec
	within.Dir = filepath.Join(f.spec.Project, "sub", "in")
	if err := f.v.mount(t.Context(), within); Code(err) != CodeUnavailable || !strings.Contains(err.Error(), "lies inside the project") {
		t.Errorf("inside: %v", err)
	}
	around := f.spec
	around.Dir = f.top
	if err := f.v.mount(t.Context(), around); Code(err) != CodeUnavailable || !strings.Contains(err.Error(), "the project lies inside") {
		t.Errorf("around: %v", err)
	}
	if out, err := inNamespaces(t, f.spec.Project, "mount -t tmpfs none sub"); err != nil {
		t.Fatal(out, err)
	}
	err := f.v.mount(t.Context(), f.spec)
	if Code(err) != CodeUnavailable || !strings.Contains(err.Error(), filepath.Join(f.spec.Project, "sub")+" is mounted inside the project") {
		t.Errorf("a mount below: %v", err)
	}
	if out, err := inNamespaces(t, f.spec.Project, "umount sub"); err != nil {
		t.Fatal(out, err)
	}
	f.command("true")
}

func TestAViewInUse(t *testing.T) {
	f := newViewFixture(t, sharedViewer(t), "true")
	if err := f.v.mount(t.Context(), f.spec); err != nil {
		t.Fatal(err)
	}
	hold := filepath.Join(f.top, "hold")
	if err := syscall.Mkfifo(hold, 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := inNamespaces(t, f.spec.Slot, "echo here >"+hold+"; read x <"+hold)
		done <- err
	}()
	if _, err := os.ReadFile(hold); err != nil { // it is there now
		t.Fatal(err)
	}
	if err := f.v.unmount(t.Context(), f.spec.Slot, false); !errors.Is(err, errViewBusy) {
		t.Errorf("somebody is there: %v", err)
	}
	if err := f.v.slot(t.Context(), f.spec.Slot); !errors.Is(err, errViewBusy) {
		t.Errorf("a slot in use: %v", err)
	}
	if err := f.v.unmount(t.Context(), f.spec.Slot, true); err != nil {
		t.Errorf("nobody is said to be there: %v", err)
	}
	if err := os.WriteFile(hold, []byte("x\n"), 0); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestAHelperThatDied(t *testing.T) {
	v := ownViewer(t, t.TempDir())
	f := newViewFixture(t, v, "echo one >a")
	if err := v.mount(t.Context(), f.spec); err != nil {
		t.Fatal(err)
	}
	if out, err := inNamespaces(t, f.spec.Slot, "echo two >a"); err != nil {
		t.Fatal(out, err)
	}
	endTree(v.proc.pid)
	<-v.proc.done
	if err := v.unmount(t.Context(), f.spec.Slot, true); Code(err) != CodeLost || v.alive() {
		t.Errorf("alive: %v, error: %v", v.alive(), err)
	}
	f.v = ownViewer(t, t.TempDir())
	if left, err := f.v.leftovers(t.Context(), f.top); err != nil || len(left) != 1 {
		t.Errorf("leftovers: %q %v", left, err)
	}
	for range 2 {
		if err := f.v.slot(t.Context(), f.spec.Slot); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := f.v.leftovers(t.Context(), f.top); err != nil || len(left) != 0 {
		t.Errorf("leftovers: %q %v", left, err)
	}
	if changes := f.list(); len(changes) != 1 {
		t.Errorf("got %+v", changes)
	}
	f.next()
	f.command("test $(cat a) = one")
}

func TestWithoutAHelper(t *testing.T) {
	for _, view := range []string{"", "/missing", "/etc/passwd"} {
		if _, err := startViewer(t.Context(), &service{}, Config{View: view}, quiet()); Code(err) != CodeUnavailable {
			t.Errorf("%q: %v", view, err)
		}
	}
}
