package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"vayu/ingest"
	"vayu/internal/atomicfile"
)

// progress is the saved state of an import. The readings before Position are stored and counted.
type progress struct {
	Key       string            `json:"key"`
	Position  int64             `json:"position"`
	Stored    int               `json:"stored"`
	Withdrawn int               `json:"withdrawn"`
	Rejected  ingest.Rejections `json:"rejected"`
	Positions ingest.Rejections `json:"positions"`
	Stations  []string          `json:"stations"`
	Elapsed   time.Duration     `json:"elapsed_ns"`
}

// progressFolder is the folder that has one file for each unfinished import.
type progressFolder string

func (f progressFolder) path(key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(string(f), hex.EncodeToString(sum[:16])+".json")
}

// load returns the progress of an import. If the file is missing or unreadable, the import starts at the beginning.
// This is slower but loses nothing.
func (f progressFolder) load(key string) progress {
	text, err := os.ReadFile(f.path(key))
	if err != nil {
		return progress{}
	}
	var p progress
	if json.Unmarshal(text, &p) != nil || p.Key != key || p.Position <= 0 {
		return progress{}
	}
	return p
}

func (f progressFolder) save(p progress) error {
	err := os.MkdirAll(string(f), 0o750)
	if err == nil {
		err = atomicfile.Write(f.path(p.Key), func(file *os.File) error { return json.NewEncoder(file).Encode(p) })
	}
	if err != nil {
		return fmt.Errorf("saving the progress: %w", err)
	}
	return nil
}

func (f progressFolder) remove(key string) error {
	err := os.Remove(f.path(key))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the progress: %w", err)
	}
	return nil
}

// FileKey returns a key of a file: its path, size and modification time. A changed file has a new key, so its import
// starts at the beginning.
func FileKey(path string) (string, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("identifying %q: %w", path, err)
	}
	info, err := os.Stat(absolute)
	if err != nil {
		return "", fmt.Errorf("identifying %q: %w", path, err)
	}
	return fmt.Sprintf("%s %d %d", absolute, info.Size(), info.ModTime().UnixNano()), nil
}
