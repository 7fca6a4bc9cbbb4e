package main

import (
	"fmt"
	"os"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/picture"
)

// images reads the pictures that go with a prompt of so many bytes.
func (c *console) images(files []string, prompt int) ([]sdk.Medium, error) {
	var pictures [][]byte
	for _, file := range files {
		data, err := readPicture(c.path(file))
		if err != nil {
			return nil, usageError{err.Error()}
		}
		pictures = append(pictures, data)
	}
	media, err := picture.Given(pictures, prompt)
	if err != nil {
		return nil, usageError{err.Error()}
	}
	return media, nil
}

// mostPicture is the largest file that is read as a picture.
const mostPicture = 64 << 20

func readPicture(file string) ([]byte, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > mostPicture:
		return nil, fmt.Errorf("%s is no picture: a file of at most %d MiB is one", file, mostPicture>>20)
	}
	return os.ReadFile(file)
}
