package api

// limits writes the headers that tell a client how much is left.
func (x *exchange) limits() {
}
