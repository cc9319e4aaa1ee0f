"`python -m cube_nb` is the command line. Written by hand, as is `__init__`."

from cube_nb.cli import main

if __name__ == '__main__':
    main()
