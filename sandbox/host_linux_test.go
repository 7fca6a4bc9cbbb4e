package sandbox_test

import (
	"io/fs"
	"os"
	"runtime"
	"syscall"
)

const isAMD64 = runtime.GOARCH == "amd64"

func ownedByCaller(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
