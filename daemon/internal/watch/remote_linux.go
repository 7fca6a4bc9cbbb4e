package watch

import "syscall"

// remoteKinds are file systems that others change without an event here.
var remoteKinds = map[uint32]string{
	0x6969: "NFS", 0x517B: "SMB", 0xFF534D42: "CIFS", 0xFE534D42: "SMB", 0x65735546: "FUSE", 0x01021997: "9P", 0x00C36400: "Ceph", 0x5346414F: "AFS",
}

// Remote names the kind of a folder's file system, if others can change it
// without an event here; otherwise it is empty.
func Remote(folder string) string {
	var st syscall.Statfs_t
	if err := syscall.Statfs(folder, &st); err != nil {
		return ""
	}
	return remoteKinds[uint32(st.Type)]
}
