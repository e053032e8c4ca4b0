package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"

	"vayu/internal/columnstore/embedded/chdb"
	"vayu/internal/columnstore/embedded/fence"
)

// stageVariable is an environment variable of the second stage of the engine's process. Its value is the number of the
// file descriptor from which the process reads its stage.
const stageVariable = "VAYU_ENGINE_STAGE"

// stage has the data that the first stage of the process passes to the second.
type stage struct {
	Config  Config  `json:"config"`
	Secrets secrets `json:"secrets"`
}

// inherited returns the stage that an earlier stage passed to this process, or nil in the first stage.
func inherited() (*stage, error) {
	text, ok := os.LookupEnv(stageVariable)
	if !ok {
		return nil, nil //nolint:nilnil // no stage is no error
	}
	if err := os.Unsetenv(stageVariable); err != nil {
		return nil, fmt.Errorf("entering the engine's second stage: %w", err)
	}
	fd, err := strconv.Atoi(text)
	if err != nil {
		return nil, fmt.Errorf("entering the engine's second stage: %w", err)
	}
	file := os.NewFile(uintptr(fd), "stage")
	defer file.Close()
	var s stage
	if err := json.NewDecoder(file).Decode(&s); err != nil {
		return nil, fmt.Errorf("entering the engine's second stage: %w", err)
	}
	return &s, nil
}

// niceValue is the nice value of the engine. A thread of the service, at 0, gets 9 times the processor time of a thread
// of the engine (sched(7)). Exports, roll-ups and analysts therefore get only the processor time that answers from
// memory do not use.
const niceValue = 10

// lower lowers the priority of this thread, and of the program that it executes, to niceValue. A higher value stays,
// because only a privileged process may reduce it. unix.Getpriority returns 20 minus the nice value.
func lower() error {
	runtime.LockOSThread() // never unlocked: the same thread must execute the program
	if now, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err == nil && 20-now >= niceValue {
		return nil
	}
	if err := unix.Setpriority(unix.PRIO_PROCESS, 0, niceValue); err != nil {
		return fmt.Errorf("lowering the engine's priority: %w", err)
	}
	return nil
}

// enter reads the configuration, prepares the data directory, and executes the second stage. If it returns, it failed.
func enter(ctx context.Context, stdin io.Reader) error {
	line, err := readLine(stdin)
	if err != nil {
		return fmt.Errorf("the engine command is started by the service itself; reading its configuration: %w", err)
	}
	var s stage
	if err := json.Unmarshal(line, &s.Config); err != nil {
		return fmt.Errorf("reading the engine's configuration: %w", err)
	}
	if err := s.Config.Listen.load(); err != nil {
		return err
	}
	rules, err := s.Config.rules()
	if err != nil {
		return err
	}
	if s.Secrets, err = prepare(ctx, s.Config); err != nil {
		return err
	}
	file, err := s.save()
	if err != nil {
		return fmt.Errorf("entering the engine's second stage: %w", err)
	}
	defer file.Close()
	if err := lower(); err != nil {
		return err
	}
	return fence.Exec(rules, append(os.Environ(), stageVariable+"="+strconv.Itoa(int(file.Fd()))))
}

// save writes the stage to a file without a name. The file stays open when the process executes another program. A pipe
// could be too small for the certificates in the stage.
func (s *stage) save() (*os.File, error) {
	file, err := os.CreateTemp(s.Config.Data, lockName) // the file's mode is 0600
	if err != nil {
		return nil, err
	}
	_, keep := unix.FcntlInt(file.Fd(), unix.F_SETFD, 0)
	err = errors.Join(os.Remove(file.Name()), keep, json.NewEncoder(file).Encode(s))
	if _, start := file.Seek(0, io.SeekStart); err != nil || start != nil {
		return nil, errors.Join(err, start, file.Close())
	}
	return file, nil
}

// maxLine limits the configuration, in bytes.
const maxLine = 32 << 10

// readLine reads a line byte by byte, because the second stage reads the rest of the stream.
func readLine(r io.Reader) ([]byte, error) {
	var line []byte
	for b := make([]byte, 1); len(line) < maxLine; line = append(line, b[0]) {
		if _, err := io.ReadFull(r, b); err != nil {
			return nil, err
		}
		if b[0] == '\n' {
			return line, nil
		}
	}
	return nil, fmt.Errorf("the line is longer than %d bytes", maxLine)
}

// rules returns what the engine may use. A configuration file of ClickHouse can define disks in other folders and in
// buckets. So with such a file, the engine may use these folders, and the network.
func (c Config) rules() (fence.Rules, error) {
	library, err := chdb.FindLibrary(c.Library)
	if err != nil {
		return fence.Rules{}, err
	}
	if library, err = filepath.EvalSymlinks(library); err != nil {
		return fence.Rules{}, fmt.Errorf("finding the engine's library: %w", err)
	}
	rules := fence.Rules{
		Writable: []string{filepath.Join(c.Data, storeName), filepath.Join(c.Data, runName)},
		Files:    []string{filepath.Join(c.Data, lockName)},
		Readable: []string{library},
		Ports:    []int{c.Port, 0},
	}
	if c.Listen.Address != "" {
		port, err := c.Listen.port()
		if err != nil {
			return fence.Rules{}, err
		}
		rules.Ports = append(rules.Ports, port)
	}
	if c.File != "" {
		disks, err := fence.Disks(c.File)
		if err != nil {
			return fence.Rules{}, err
		}
		for _, disk := range disks {
			if err := os.MkdirAll(disk, 0o750); err != nil { // the fence has rules for existing folders only
				return fence.Rules{}, fmt.Errorf("making a disk of the engine's configuration: %w", err)
			}
		}
		rules.Writable, rules.Readable, rules.Network = append(rules.Writable, disks...), append(rules.Readable, fence.Parts(c.File)...), true
	}
	return rules, nil
}
