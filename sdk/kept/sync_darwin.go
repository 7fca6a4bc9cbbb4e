package kept

import "os"

// syncAll says that only files can be synced here.
func syncAll(*os.File) (done bool, err error) { return false, nil }
