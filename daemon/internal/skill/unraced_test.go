//go:build !race

package skill

const racing = false
