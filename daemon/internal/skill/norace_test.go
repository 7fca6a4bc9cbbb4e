//go:build !race

package skill

// raceDetector says that everything takes ten times as long.
const raceDetector = false
