//go:build !darwin

package credential

// System is the keyring of the user whose environment it is given.
func System(getenv func(string) (string, bool)) Ring { return sessionBus(getenv) }
