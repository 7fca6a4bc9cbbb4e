package credential

// System is the keyring of the user.
func System(func(string) (string, bool)) Ring { return Keychain{"/usr/bin/security"} }
