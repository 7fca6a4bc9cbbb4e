package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

func init() {
	deeds["environ"] = func(a []string) error { _, err := os.ReadFile("/proc/" + a[0] + "/environ"); return err }
	deeds["memory"] = func(a []string) error {
		f, err := os.OpenFile("/proc/"+a[0]+"/mem", os.O_RDWR, 0)
		if err == nil {
			err = f.Close()
		}
		return err
	}
	deeds["descriptors"] = func(a []string) error { _, err := os.Readlink("/proc/" + a[0] + "/fd/0"); return err }
	deeds["processes"] = func([]string) error { _, err := os.ReadDir("/proc"); return err }
	deeds["signal"] = func(a []string) error { return unix.Kill(number(a[0]), 0) }
	deeds["trace"] = func(a []string) error {
		err := unix.PtraceSeize(number(a[0]))
		if err == nil {
			_ = unix.PtraceDetach(number(a[0])) // it ends with this process in any case
		}
		return err
	}
	deeds["limits"] = func(a []string) error {
		var have unix.Rlimit
		return unix.Prlimit(number(a[0]), unix.RLIMIT_CORE, nil, &have)
	}
	deeds["priority"] = func(a []string) error { return unix.Setpriority(unix.PRIO_PROCESS, number(a[0]), 19) }
	deeds["affinity"] = func(a []string) error {
		var all unix.CPUSet
		if err := unix.SchedGetaffinity(0, &all); err != nil {
			return err
		}
		return unix.SchedSetaffinity(number(a[0]), &all)
	}
	deeds["vmread"] = func(a []string) error {
		b := make([]byte, 1)
		at, err := strconv.ParseUint(a[1], 0, 64)
		if err != nil {
			return err
		}
		_, err = unix.ProcessVMReadv(number(a[0]), []unix.Iovec{{Base: &b[0], Len: 1}}, []unix.RemoteIovec{{Base: uintptr(at), Len: 1}}, 0)
		return err
	}
	deeds["steal"] = func(a []string) error {
		fd, err := unix.PidfdOpen(number(a[0]), 0)
		if err != nil {
			return err
		}
		_, err = unix.PidfdGetfd(fd, 0, 0)
		return err
	}
	deeds["shared"] = func([]string) error {
		_, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600)
		return err
	}
	deeds["io_uring"] = func([]string) error {
		var params [120]byte
		_, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)), 0)
		return failure(errno)
	}
	deeds["namespace"] = func([]string) error { return unix.Unshare(unix.CLONE_NEWUTS | unix.CLONE_FS) }
	deeds["keys"] = func([]string) error {
		_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true)
		return err
	}
	deeds["privileges"] = func([]string) error { // of a set-uid program that it executes
		held, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
		if err == nil && held == 1 {
			err = errors.New("no new privileges")
		}
		return err
	}
	deeds["setuid"] = func(a []string) error { // a[0] is a copy of it that is set-uid, for a[1]
		out, err := exec.Command(a[0], "whoami").Output()
		if err == nil && string(out) != a[1]+"\nworked\n" {
			err = fmt.Errorf("it ran as %q", out)
		}
		return err
	}
	deeds["whoami"] = func([]string) error { fmt.Println(os.Geteuid()); return nil }
	deeds["sleep"] = func([]string) error { fmt.Println("ready"); select {} }
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		fmt.Println("untried:", err)
		os.Exit(2)
	}
	return n
}

func failure(errno unix.Errno) error {
	if errno != 0 {
		return errno
	}
	return nil
}
