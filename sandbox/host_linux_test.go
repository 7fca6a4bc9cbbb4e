package sandbox_test

import (
	"io/fs"
	"os"
	"syscall"
)

func ownedByCaller(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
