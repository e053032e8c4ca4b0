// Package queue decides what is sent next: every endpoint has its own queue and
// its own number of attempts under way, so that none waits for another.
package queue
