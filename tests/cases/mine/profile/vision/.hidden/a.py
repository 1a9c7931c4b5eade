import theano
