// Package listen is a receiver for a developer's own machine: it prints deliveries
// and says whether their signatures hold.
package listen
