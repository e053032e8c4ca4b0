package main

import (
	"encoding/binary"
	"os"
	"sync/atomic"
	"time"
)

// Clock is the simulated clock of this program and of the processes into which clock/clock.c is loaded.
type Clock struct {
	file   *os.File
	offset atomic.Int64 // nanoseconds
}

// Now returns the simulated time.
func (c *Clock) Now() time.Time {
	return time.Now().Round(0).Add(time.Duration(c.offset.Load())).UTC()
}

// Leap sets the clock to a time. The other processes read the new offset from the file.
func (c *Clock) Leap(to time.Time) error {
	ns := c.offset.Add(int64(to.Sub(c.Now())))
	_, err := c.file.WriteAt(binary.LittleEndian.AppendUint64(nil, uint64(ns)), 0)
	return err
}
