package atomicfile

import "errors"

func makePipe(string) error { return errors.ErrUnsupported }
