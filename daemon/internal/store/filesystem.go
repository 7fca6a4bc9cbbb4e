package store

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/moby/sys/mountinfo"

	"github.com/bothyd/bothy/sdk"
)

// networkKinds are filesystems whose locks or shared memory cannot be trusted
// between machines. SQLite's write-ahead log needs both. Of FUSE, only what is
// known to reach over a network is refused: a local one (ntfs-3g, encfs,
// bindfs, virtiofs of a virtual machine) keeps locks in this kernel.
var networkKinds = []string{
	"nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "9p", "afs", "afpfs", "coda", "ncpfs", "ceph", "lustre", "gpfs", "ocfs2", "gfs2",
	"webdav", "davfs", "davfs2", "beegfs", "orangefs", "pvfs2",
	"fuse.sshfs", "fuse.rclone", "fuse.s3fs", "fuse.gcsfuse", "fuse.goofys", "fuse.mountpoint-s3", "fuse.juicefs", "fuse.JuiceFS",
	"fuse.davfs", "fuse.davfs2", "fuse.glusterfs", "fuse.ceph", "fuse.ceph-fuse", "fuse.curlftpfs", "fuse.smbnetfs", "fuse.gvfsd-fuse",
	"fuse.moosefs", "fuse.mfs", "fuse.seaweedfs", "fuse.blobfuse", "fuse.blobfuse2", "fuse.google-drive-ocamlfuse", "fuse.hdfs", "fuse.nfs",
}

// filesystemKind names the filesystem of a folder, whose links are resolved, as
// mount(8) does; empty when none is listed above it.
func filesystemKind(dir string) (kind string, err error) {
	if _, err := os.Stat(dir); err != nil {
		return "", fmt.Errorf("asking for the filesystem of %s: %w", dir, err)
	}
	longest := 0 // of those of one length, the last lies on top
	_, err = mountinfo.GetMounts(func(m *mountinfo.Info) (skip, stop bool) {
		at := strings.TrimSuffix(m.Mountpoint, "/") + "/"
		if strings.HasPrefix(dir+"/", at) && len(at) >= longest {
			kind, longest = m.FSType, len(at)
		}
		return true, false
	})
	return kind, err
}

// refuseFilesystem refuses a folder of a network filesystem. kind asks which
// one it is; what cannot be asked is not refused.
func refuseFilesystem(dir string, kind func(dir string) (string, error)) error {
	name, err := kind(dir)
	if err != nil || !slices.Contains(networkKinds, name) {
		return nil
	}
	return sdk.Errorf(sdk.Unavailable, "%s lies on a network filesystem (%s), on which a SQLite database gets damaged; give Bothy a place on a local disk (XDG_STATE_HOME, or store.path)", dir, name)
}

// freeSpace is what an ordinary user may still write below dir; -1 when the
// kernel does not say.
func freeSpace(dir string) int64 {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return -1
	}
	return int64(st.Bavail) * int64(st.Bsize) //nolint:gosec,unconvert // the types differ between systems
}
