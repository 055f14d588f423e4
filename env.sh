# Source this from bash or zsh: everything of flex imports, and `ros2` works.
# On a machine without ROS 2, `ros2` and the launch packages are the small ones in bare/.

if [ -n "${ZSH_VERSION:-}" ]; then
    flex_root=$(eval 'printf %s "${${(%):-%x}:A:h}"')
else
    flex_root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
fi

if [ -z "${ROS_DISTRO:-}" ] && [ -d "$flex_root/.venv" ]; then
    export VIRTUAL_ENV="$flex_root/.venv"
    # A second sourcing must not make the paths longer.
    case ":$PATH:" in *":$VIRTUAL_ENV/bin:"*) ;; *) export PATH="$VIRTUAL_ENV/bin:$PATH" ;; esac
    case ":${AMENT_PREFIX_PATH:-}:" in
        *":$VIRTUAL_ENV:"*) ;;
        *) export AMENT_PREFIX_PATH="$VIRTUAL_ENV${AMENT_PREFIX_PATH:+:$AMENT_PREFIX_PATH}" ;;
    esac
    # The wheels' libraries; without this each Python would start twice to find them.
    for flex_lib in "$VIRTUAL_ENV"/lib "$VIRTUAL_ENV"/lib/python3.*/site-packages/ros_*.libs; do
        case ":${LD_LIBRARY_PATH:-}:" in
            *":$flex_lib:"*) ;;
            *) export LD_LIBRARY_PATH="$flex_lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" ;;
        esac
    done
    export _ROS_WHEELS_BOOTSTRAP_COMPLETE=1
fi

if [ -f "$flex_root/install/local_setup.bash" ]; then
    # colcon's script calls the Python that built it, and not between quotes: a path with a space
    # is in the venv, and behind its links is the Python of the machine, which does as well.
    flex_python="${COLCON_PYTHON_EXECUTABLE:-}"
    if [ -z "$flex_python" ] && [ -x "$flex_root/.venv/bin/python3" ]; then
        COLCON_PYTHON_EXECUTABLE=$(readlink -f "$flex_root/.venv/bin/python3")
    fi
    if [ -n "${ZSH_VERSION:-}" ]; then
        . "$flex_root/install/local_setup.zsh"
    else
        . "$flex_root/install/local_setup.bash"
    fi
    [ -n "$flex_python" ] || unset COLCON_PYTHON_EXECUTABLE
else
    echo 'flex is not built yet: run make setup, then source env.sh again' >&2
fi

if ! command -v ros2 > /dev/null; then
    export PATH="$PATH:$flex_root/bare/bin"
fi
if ! python3 -c 'import launch, launch_ros, launch_testing' 2> /dev/null; then
    export PYTHONPATH="$flex_root/bare/launch_standin${PYTHONPATH:+:$PYTHONPATH}"
fi
unset flex_root flex_lib flex_python
