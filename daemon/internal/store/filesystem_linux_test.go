package store

import "testing"

func TestMountLines(t *testing.T) {
	for line, want := range map[string][2]string{
		"36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue":      {"98:0", "ext3"},
		"40 35 0:57 / /home/me/far rw,nosuid,nodev - fuse.sshfs me@far:/home rw,user_id=1000": {"0:57", "fuse.sshfs"},
		"41 35 0:58 / /mnt/no\\040optional rw - 9p C:\\134 rw":                                {"0:58", "9p"},
		"": {"", ""}, "1 2": {"", ""}, "1 2 3:4 a b c": {"", ""},
	} {
		if device, kind := parseMount(line); device != want[0] || kind != want[1] {
			t.Errorf("%q is %s %s, want %v", line, device, kind, want)
		}
	}
	for dev, want := range map[uint64]string{0: "0:0", 0x803: "8:3", 0xfd01: "253:1", 0x1000ff: "0:511", 0x39: "0:57"} {
		if got := deviceName(dev); got != want {
			t.Errorf("%#x is %s, want %s", dev, got, want)
		}
	}
}

func TestFilesystemOfAFolder(t *testing.T) {
	if kind, err := filesystemKind("/proc"); err != nil || kind != "proc" {
		t.Errorf("/proc is %q, %v", kind, err)
	}
	if _, err := filesystemKind("/proc/no such folder"); err == nil {
		t.Error("what is not there has a filesystem")
	}
}
